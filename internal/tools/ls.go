package tools

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/walk"
)

const lsText = `List a directory as a tree: directories first, ending with /, then files with their sizes. Everything is shown, also hidden and ignored files, at most 1000 entries; .git, and sessions and cache in .aura, are not opened. depth says how many levels (default 1).`

// maxLs is how many entries Ls shows.
const maxLs = 1000

func lsTool() tool.Tool {
	return tool.Tool{
		Name:        "Ls",
		Description: lsText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"path":{"type":"string","description":"The directory (default: the working directory)."},
"depth":{"type":"integer","minimum":1,"maximum":20,"description":"Levels to show (default 1)."}},
"additionalProperties":false}`),
		SideEffects: []string{"read"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			return tool.Paths{Read: []string{home(orDot(text(args, "path")))}}, nil
		},
		Execute: ls,
	}
}

func ls(ctx context.Context, call tool.Call) (tool.Result, error) {
	root := absolute(call.Workdir, orDot(text(call.Args, "path")))
	if err := directory(call.Workdir, root); err != nil {
		return tool.Result{}, err
	}
	var b strings.Builder
	shown, more := 0, false
	w := walk.Walker{
		Root: root, Depth: max(1, integer(call.Args, "depth")), All: true,
		Order: func(a, b fs.DirEntry) int { return cmp.Compare(rank(a), rank(b)) },
		Visit: func(e walk.Entry) bool {
			if shown == maxLs {
				more = true
				return false
			}
			shown++
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", strings.Count(e.Path, "/")), describe(root, e))
			return true
		},
	}
	if err := w.Run(ctx); err != nil {
		return tool.Result{}, explain(call.Workdir, root, err)
	}
	switch {
	case shown == 0:
		return tool.Result{Text: display(call.Workdir, root) + " is empty"}, nil
	case more:
		fmt.Fprintf(&b, "[only the first %d entries are shown: use a smaller depth or a sub-directory]\n", maxLs)
	}
	return tool.Result{Text: b.String()}, nil
}

func rank(e fs.DirEntry) int {
	if e.IsDir() {
		return 0
	}
	return 1
}

// describe is one line of the listing.
func describe(root string, e walk.Entry) string {
	name := e.Name()
	switch mode := e.Type(); {
	case mode.IsDir():
		return name + "/"
	case mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(filepath.Join(root, filepath.FromSlash(e.Path)))
		if err != nil {
			return name + " -> ?"
		}
		return name + " -> " + to
	case mode.IsRegular():
		info, err := e.Info()
		if err != nil {
			return name
		}
		return name + "  " + bytesText(info.Size())
	default:
		return name + "  (special file)"
	}
}
