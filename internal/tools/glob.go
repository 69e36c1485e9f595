package tools

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/walk"
)

const globText = `Find files by name. The result is their paths, sorted by name, at most 1000.

- * and ? stay within one name, ** stands for any number of directories, {a,b} for alternatives, [a-z] for a class: **/*_test.go, cmd/*/main.go, **/*.{ts,tsx}.
- Files that git ignores are left out, as are .git and aura's own records (sessions, cache and debug.log in .aura); hidden files are not. Only files are listed, not directories.
- To search in the content of files use Rg.`

// maxGlob is how many paths Glob shows.
const maxGlob = 1000

func globTool() tool.Tool {
	return tool.Tool{
		Name:        "Glob",
		Description: globText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"The pattern, relative to path."},
"path":{"type":"string","description":"The directory to search (default: the working directory)."}},
"required":["pattern"],"additionalProperties":false}`),
		SideEffects: []string{"read"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			base, _ := globBase(orDot(text(args, "path")), text(args, "pattern"))
			return tool.Paths{Read: []string{base}}, nil
		},
		Execute: glob,
	}
}

// globBase moves the fixed beginning of the pattern into the directory to search.
func globBase(dir, pattern string) (base, rest string) {
	pattern = home(pattern)
	pattern = strings.TrimPrefix(filepath.ToSlash(pattern), "./")
	fixed, rest := doublestar.SplitPattern(pattern)
	switch {
	case filepath.IsAbs(filepath.FromSlash(fixed)):
		return filepath.FromSlash(fixed), rest
	case fixed == ".":
		return home(dir), rest
	}
	return filepath.Join(home(dir), filepath.FromSlash(fixed)), rest
}

func glob(ctx context.Context, call tool.Call) (tool.Result, error) {
	given := text(call.Args, "pattern")
	base, pattern := globBase(orDot(text(call.Args, "path")), given)
	if !doublestar.ValidatePattern(pattern) || strings.Count(pattern, "{") > 8 {
		return tool.Result{}, fmt.Errorf("pattern %q is not valid: check that every [ and { is closed", given)
	}
	root := absolute(call.Workdir, base)
	// The directory the caller named must exist; one the pattern names need not.
	if err := directory(call.Workdir, absolute(call.Workdir, orDot(text(call.Args, "path")))); err != nil {
		return tool.Result{}, err
	}
	var found []string
	more := false
	if directory(call.Workdir, root) == nil {
		w := walk.Walker{Root: root, Depth: globDepth(pattern), Visit: func(e walk.Entry) bool {
			if e.IsDir() || !doublestar.MatchUnvalidated(pattern, e.Path) {
				return true
			}
			if len(found) == maxGlob {
				more = true
				return false
			}
			found = append(found, display(call.Workdir, filepath.Join(root, filepath.FromSlash(e.Path))))
			return true
		}}
		if err := w.Run(ctx); err != nil {
			return tool.Result{}, explain(call.Workdir, root, err)
		}
	}
	switch {
	case len(found) == 0 && !strings.Contains(given, "/"):
		return tool.Result{
			Text: fmt.Sprintf("no files match %s (to search sub-directories too: %s)", given, path.Join("**", given)),
		}, nil
	case len(found) == 0:
		return tool.Result{Text: "no files match " + given}, nil
	case more:
		found = append(found, fmt.Sprintf("[only the first %d are shown: use a narrower pattern or path]", maxGlob))
	}
	return tool.Result{Text: strings.Join(found, "\n")}, nil
}

// globDepth is how many levels the pattern can reach; 0 for any number.
func globDepth(pattern string) int {
	if strings.Contains(pattern, "**") || strings.Contains(pattern, "{") {
		return 0
	}
	return strings.Count(pattern, "/") + 1
}
