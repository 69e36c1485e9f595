// Package walk visits the files of a project as a search sees them: without what git
// ignores and without aura's own records.
package walk

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/gitignore"
)

// Entry is what a walk has found.
type Entry struct {
	fs.DirEntry
	Path string // From the root of the walk, with slashes.
}

// Walker visits a tree in the order of names, without following symbolic links.
// Directories that cannot be read are passed over.
type Walker struct {
	Root  string
	Depth int // How many levels to go down; 0 for all.

	// All shows what git would ignore as well, and what is aura's own.
	All bool
	// Order sorts the entries of one directory; nil leaves them by name.
	Order func(a, b fs.DirEntry) int
	// Visit gets every entry; false ends the walk.
	Visit func(e Entry) bool
}

// maxWalkDepth is deeper than any sound tree.
const maxWalkDepth = 200

// Run walks. The error is that of the root or of the context.
func (w *Walker) Run(ctx context.Context) error {
	var ig *gitignore.Rules
	if !w.All {
		ig = gitignore.Above(w.Root)
	}
	entries, err := os.ReadDir(w.Root)
	if err != nil && len(entries) == 0 {
		return err
	}
	w.list(ctx, entries, "", ig, 1)
	return ctx.Err()
}

// list visits the entries of one directory and what is below them.
func (w *Walker) list(
	ctx context.Context, entries []fs.DirEntry, prefix string, ig *gitignore.Rules, level int,
) bool {
	if ctx.Err() != nil {
		return false
	}
	if !w.All && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		dir := strings.TrimSuffix(prefix, "/")
		ig = ig.With(filepath.Join(w.Root, filepath.FromSlash(prefix), ".gitignore"), dir)
	}
	if w.Order != nil {
		slices.SortStableFunc(entries, w.Order)
	}
	home := filepath.Base(filepath.Join(w.Root, filepath.FromSlash(prefix))) == homeName
	for _, e := range entries {
		isDir, path := e.IsDir(), prefix+e.Name()
		closed := e.Name() == ".git" || home && ownRecord(e.Name())
		if !w.All && (closed || ig != nil && ig.Ignores(path, isDir)) {
			continue
		}
		if !w.Visit(Entry{e, path}) {
			return false
		}
		if !isDir || closed || level == w.Depth || level > maxWalkDepth {
			continue
		}
		below, _ := os.ReadDir(filepath.Join(w.Root, filepath.FromSlash(path)))
		if !w.list(ctx, below, path+"/", ig, level+1) {
			return false
		}
	}
	return true
}

// homeName is the name of aura's home in a project.
const homeName = ".aura"

// ownRecord reports whether a name in a home is that of something aura writes while it
// works. Searches would find themselves there: the transcript holds what they look for.
func ownRecord(name string) bool {
	return name == "sessions" || name == "cache" || name == "debug.log"
}
