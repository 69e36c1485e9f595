package guard

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/sh"
)

// Suggest proposes the pattern under which a call could be approved for good. It says
// no more than the user who sees the call would expect: this command, or this one
// with other arguments where its first words say what it does; files of the same
// directory, if it is an ordinary one of the project.
func Suggest(name string, args map[string]any) string {
	if script, ok := args["command"].(string); ok {
		return name + ":" + suggestScript(strings.TrimSpace(script))
	}
	for _, key := range []string{"path", "file_path"} {
		if path, ok := args[key].(string); ok {
			return name + ":" + suggestPath(filepath.Clean(path))
		}
	}
	return name
}

// literally is a pattern for nothing but the text. Of several lines it always says so.
func literally(text string) string {
	if strings.ContainsAny(text, "*\n") || strings.HasPrefix(text, exactly) {
		return exactly + text
	}
	return text
}

// suggestPath proposes the directory of a file below the working directory. Of others
// and of hidden ones a file says little about its neighbours.
func suggestPath(path string) string {
	dir := filepath.Dir(path)
	hidden := func(name string) bool { return strings.HasPrefix(name, ".") }
	if !filepath.IsLocal(path) || strings.ContainsAny(dir, "*\n") ||
		slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), hidden) ||
		dir == "." {
		return literally(path)
	}
	return filepath.Join(dir, "*")
}

// suggestScript proposes a command up to its subcommand if that is all there is, with
// the commands around it; of anything else, the whole.
func suggestScript(script string) string {
	calls, more, err := sh.Commands(script)
	if err != nil || more || len(calls) == 0 {
		return literally(script)
	}
	for i, c := range calls {
		if c.Unknown || i > 0 && (c.Lead == "" || c.Root != 0) {
			return literally(script)
		}
	}
	last := calls[len(calls)-1]
	start := subcommand(last.Literal)
	if last.Lead != "" && start != "" {
		_, rest, _ := strings.Cut(start, " ")
		start = last.Lead + " " + rest
	}
	if start == "" || strings.Contains(start, "*") || !strings.HasPrefix(calls[0].Literal, start) {
		return literally(script)
	}
	return start + "*"
}

// subcommand is the beginning of a command that says what it does, like `git push`;
// empty if only the whole does.
func subcommand(command string) string {
	words := strings.Fields(command)
	if len(words) < 2 {
		return ""
	}
	n := 1 + subcommands(words[0])
	if n == 1 || len(words) < n {
		return ""
	}
	for _, word := range words[1:n] {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || word[0] == '-' || foreign(word) {
			return ""
		}
	}
	return strings.Join(words[:n], " ")
}

// subcommands is how many words behind its name say what a program does; 0 if it is
// its arguments that do.
func subcommands(program string) int {
	switch program {
	case "git",
		"hg",
		"jj",
		"svn",
		"go",
		"cargo",
		"rustup",
		"npm",
		"pnpm",
		"yarn",
		"bun",
		"deno",
		"pip",
		"pip3",
		"uv",
		"poetry",
		"bundle",
		"gem",
		"composer",
		"dotnet",
		"mvn",
		"gradle",
		"make",
		"just",
		"task",
		"docker",
		"podman",
		"kubectl",
		"helm",
		"terraform",
		"brew",
		"systemctl":
		return 1
	case "gh", "glab", "gcloud", "aws", "az":
		return 2
	}
	return 0
}

// foreign reports whether it is the arguments of a subcommand that say what runs.
func foreign(subcommand string) bool {
	switch subcommand {
	case "run",
		"exec",
		"x",
		"dlx",
		"eval",
		"api",
		"alias",
		"config",
		"submodule",
		"bisect",
		"tool",
		"compose",
		"create",
		"debug":
		return true
	}
	return false
}
