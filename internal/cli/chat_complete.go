package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
)

// complete proposes slash commands and their names, and files for everything else.
func complete(a *app.App, before string) []string {
	if a == nil {
		return nil
	}
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	if strings.HasPrefix(before, "/") && word == before {
		var out []string
		for _, c := range a.Commands().Commands() {
			if strings.HasPrefix("/"+c.Name, word) {
				out = append(out, "/"+c.Name)
			}
		}
		return out
	}
	name, _, _ := commands.Parse(before)
	var choices []commands.Choice
	switch name {
	case "agent":
		choices = a.Commands().Agents()
	case "mode":
		choices = a.Commands().Modes()
	default:
		return files(a.Agent().Snapshot().Workdir, word)
	}
	var out []string
	for _, c := range choices {
		if strings.HasPrefix(strings.ToLower(c.Name), strings.ToLower(word)) {
			out = append(out, c.Name)
		}
	}
	return out
}

// files lists the paths below dir that begin with word.
func files(dir, word string) []string {
	matches, err := filepath.Glob(
		filepath.Join(dir, strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(word)) + "*",
	)
	if err != nil || word == "" {
		return nil
	}
	var out []string
	for _, m := range matches {
		rel, err := filepath.Rel(dir, m)
		if err != nil {
			continue
		}
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
	}
	return out
}
