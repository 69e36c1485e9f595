package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/idelchi/aura/internal/tool"
)

const patchText = `Change, create, move and delete files with one patch. Either all of it is applied or nothing.

*** Begin Patch
*** Update File: path
@@ a line above the change, where the context alone is not unique
 context line
-removed line
+added line
*** Add File: path
+every line of the new file
*** Delete File: path
*** End Patch

- In an update each line begins with a space (context), - or +. Give about three lines of context before and after a change, exactly as in the file; there are no line numbers.
- Several changes of one file follow each other in the order of the file, each after its own @@.
- "*** Move to: path" after an Update line renames the file. "*** End of File" after a change ties it to the end of the file.
- Files that are changed must have been read before.`

// maxPatch bounds the text of a patch.
const maxPatch = 2 << 20

func patchTool() tool.Tool {
	return tool.Tool{
		Name:        "Patch",
		Description: patchText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"patch":{"type":"string","minLength":1,"description":"The patch, from *** Begin Patch to *** End Patch."}},
"required":["patch"],"additionalProperties":false}`),
		Serial:      true,
		SideEffects: []string{"write"},
		Timeout:     fileTimeout,
		Paths:       patchPaths,
		Execute:     applyPatch,
	}
}

func patchPaths(args map[string]any) (tool.Paths, error) {
	changes, err := parsePatch(text(args, "patch"))
	if err != nil {
		return tool.Paths{}, err
	}
	var paths tool.Paths
	var deleted []string
	made := map[string][]string{} // By their last element: a patch may have many files.
	add := func(path string) {
		path = filepath.Clean(path)
		made[filepath.Base(path)] = append(made[filepath.Base(path)], path)
	}
	for _, c := range changes {
		path := home(c.path)
		paths.Write = append(paths.Write, path)
		switch {
		case c.kind == addFile:
			paths.Record = append(paths.Record, path)
			add(path)
		case c.kind == deleteFile:
			paths.Clear = append(paths.Clear, path)
			deleted = append(deleted, path)
		case c.moveTo != "":
			paths.Guard = append(paths.Guard, path)
			paths.Clear = append(paths.Clear, path)
			paths.Write = append(paths.Write, home(c.moveTo))
			paths.Record = append(paths.Record, home(c.moveTo))
			add(home(c.moveTo))
		default:
			paths.Guard = append(paths.Guard, path)
			paths.Record = append(paths.Record, path)
		}
	}
	// A file that is deleted and made anew is overwritten.
	for _, path := range deleted {
		clean := filepath.Clean(path)
		if slices.ContainsFunc(made[filepath.Base(clean)], func(m string) bool { return mayBeSame(m, clean) }) {
			paths.Guard = append(paths.Guard, path)
		}
	}
	return paths, nil
}

// mayBeSame reports whether two clean paths with the same last element can be one file,
// whatever the working directory.
func mayBeSame(a, b string) bool {
	if filepath.IsAbs(b) {
		a, b = b, a
	}
	if !filepath.IsAbs(a) || filepath.IsAbs(b) {
		return a == b
	}
	// It may go up from a directory that is not known.
	return !filepath.IsLocal(b) || strings.HasSuffix(a, string(filepath.Separator)+b)
}

func applyPatch(_ context.Context, call tool.Call) (tool.Result, error) {
	changes, err := parsePatch(text(call.Args, "patch"))
	if err != nil {
		return tool.Result{}, err
	}
	s := stage{workdir: call.Workdir, files: map[string]*staged{}}
	var problems []error
	for _, c := range changes {
		problems = append(problems, s.apply(c))
	}
	if err := errors.Join(problems...); err != nil {
		return tool.Result{}, fmt.Errorf("nothing was changed:\n%w", err)
	}
	if err := s.commit(); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: strings.Join(s.report, "\n")}, nil
}

// stage holds what the files will be until everything is known to be right.
type stage struct {
	workdir string
	files   map[string]*staged
	order   []string
	report  []string
}

// staged is one file before and after.
type staged struct {
	before, after string
	existed       bool
	exists        bool
	mode          fs.FileMode // Of the file it was moved from, so that a script stays executable; else 0.
}

// file is the state of a path so far in the patch.
func (s *stage) file(path string) (*staged, error) {
	if f, ok := s.files[path]; ok {
		return f, nil
	}
	f := &staged{}
	content, err := load(s.workdir, path)
	switch _, missing := os.Lstat(path); {
	case err == nil:
		f.before, f.after, f.existed, f.exists = content, content, true, true
	case !errors.Is(missing, fs.ErrNotExist):
		return nil, err
	}
	s.files[path] = f
	s.order = append(s.order, path)
	return f, nil
}

func (s *stage) apply(c change) error {
	path := absolute(s.workdir, c.path)
	shown := display(s.workdir, path)
	f, err := s.file(path)
	if err != nil {
		return err
	}
	switch {
	case c.kind == addFile && f.exists:
		return fmt.Errorf("%s: cannot add, it exists already: use Update File, or Write to replace it", shown)
	case c.kind == addFile:
		f.after, f.exists = c.content, true
		s.report = append(s.report, fmt.Sprintf("added %s (%d lines)", shown, strings.Count(c.content, "\n")))
		return nil
	case !f.exists:
		return fmt.Errorf("%s does not exist%s", shown, suggestion(s.workdir, path))
	case c.kind == deleteFile:
		f.after, f.exists = "", false
		s.report = append(s.report, "deleted "+shown)
		return nil
	}
	updated, notes, err := applyHunks(f.after, c.hunks)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	f.after = updated
	added, removed := c.counts()
	line := fmt.Sprintf("updated %s (+%d -%d)", shown, added, removed)
	if c.moveTo != "" {
		target := absolute(s.workdir, c.moveTo)
		to, err := s.file(target)
		if err != nil {
			return err
		}
		if to.exists {
			return fmt.Errorf("%s: cannot move to %s, it exists already", shown, display(s.workdir, target))
		}
		to.after, to.exists = f.after, true
		if info, err := os.Stat(path); err == nil {
			to.mode = info.Mode().Perm()
		}
		f.after, f.exists = "", false
		line = fmt.Sprintf("moved %s to %s (+%d -%d)", shown, display(s.workdir, target), added, removed)
	}
	s.report = append(s.report, line)
	for _, note := range notes {
		s.report = append(s.report, "  "+note)
	}
	return nil
}

// commit writes everything, or puts back what it had written before a failure.
func (s *stage) commit() error {
	var undo []func() error
	for _, path := range s.order {
		f := s.files[path]
		if f.exists == f.existed && f.before == f.after {
			continue
		}
		back, err := s.write(path, f)
		if back != nil {
			undo = append(undo, back)
		}
		if err == nil {
			continue
		}
		for i := len(undo) - 1; i >= 0; i-- {
			if failed := undo[i](); failed != nil {
				return fmt.Errorf("%w; and putting back the other files failed: %w", err, failed)
			}
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// write brings one file to its new state; the function it returns brings it back.
func (s *stage) write(path string, f *staged) (undo func() error, err error) {
	if !f.exists {
		info, _ := os.Lstat(path)
		link, _ := os.Readlink(path)
		if err := os.Remove(path); err != nil {
			return nil, explain(s.workdir, path, err)
		}
		return func() error { return restore(path, link, f.before, info) }, nil
	}
	if f.existed {
		_, err := save(s.workdir, path, f.after)
		return func() error {
			if now, err := load(s.workdir, path); err == nil && now == f.before {
				return nil
			}
			_, err := save(s.workdir, path, f.before)
			return err
		}, err
	}
	made := missingParents(path)
	undo = func() error {
		err := os.Remove(path)
		for _, dir := range made {
			_ = os.Remove(dir)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return err
	}
	if _, err := save(s.workdir, path, f.after); err != nil {
		return undo, err
	}
	if f.mode != 0 {
		if err := os.Chmod(path, f.mode); err != nil {
			return undo, explain(s.workdir, path, err)
		}
	}
	return undo, nil
}

// restore puts back a file, or a link to one, that was deleted.
func restore(path, link, content string, info fs.FileInfo) error {
	if link != "" {
		return os.Symlink(link, path)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil || info == nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm())
}

// missingParents is the directories that writing path will create, the innermost first.
func missingParents(path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return dirs
		}
		dirs = append(dirs, dir)
	}
}
