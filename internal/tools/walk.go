package tools

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is what a walk has found.
type entry struct {
	path string // From the root of the walk, with slashes.
	dir  fs.DirEntry
}

// walker visits a tree in the order of names, without following symbolic links.
// Directories that cannot be read are passed over.
type walker struct {
	ctx   context.Context
	root  string
	depth int // How many levels to go down; 0 for all.

	// all shows what git would ignore as well, and what is aura's own.
	all bool
	// order sorts the entries of one directory; nil leaves them by name.
	order func(a, b fs.DirEntry) int
	// visit gets every entry; false ends the walk.
	visit func(e entry) bool
}

// maxWalkDepth is deeper than any sound tree.
const maxWalkDepth = 200

// run walks. The error is that of the root or of the context.
func (w *walker) run() error {
	var ig *ignore
	if !w.all {
		ig = outerRules(w.root)
	}
	entries, err := os.ReadDir(w.root)
	if err != nil && len(entries) == 0 {
		return err
	}
	w.list(entries, "", ig, 1)
	return w.ctx.Err()
}

// list visits the entries of one directory and what is below them.
func (w *walker) list(entries []fs.DirEntry, prefix string, ig *ignore, level int) bool {
	if w.ctx.Err() != nil {
		return false
	}
	if !w.all && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		dir := strings.TrimSuffix(prefix, "/")
		ig = ig.with(filepath.Join(w.root, filepath.FromSlash(prefix), ".gitignore"), dir, "")
	}
	if w.order != nil {
		slices.SortStableFunc(entries, w.order)
	}
	home := filepath.Base(filepath.Join(w.root, filepath.FromSlash(prefix))) == homeName
	for _, e := range entries {
		isDir, path := e.IsDir(), prefix+e.Name()
		closed := e.Name() == ".git" || home && ownRecord(e.Name())
		if !w.all && (closed || ig != nil && ig.ignores(path, isDir)) {
			continue
		}
		if !w.visit(entry{path, e}) {
			return false
		}
		if !isDir || closed || level == w.depth || level > maxWalkDepth {
			continue
		}
		below, _ := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(path)))
		if !w.list(below, path+"/", ig, level+1) {
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

// directory checks that the root of a search can be walked.
func directory(workdir, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return explain(workdir, path, err)
	}
	if !info.IsDir() {
		return &notDirectory{display(workdir, path)}
	}
	return nil
}

type notDirectory struct{ path string }

func (e *notDirectory) Error() string { return e.path + " is a file, not a directory" }
