package tasks

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
)

// Files are the files of tasks, for reading them again when they change.
type Files struct {
	Find func() (config.Homes, error) // Where they are.
	Now  func() time.Time             // nil is the time of the system.

	tasks []Task
	mark  string    // Of the files as they were read; empty: read them again.
	seen  string    // Their mark at the last Look,
	since time.Time // and since when they have it.
}

// settleTime is how long files must have stayed as they are. Before, somebody may be
// in the middle of writing one.
const settleTime = 100 * time.Millisecond

// Read reads the tasks. All mistakes are reported together.
func (f *Files) Read() ([]Task, error) {
	homes, err := f.Find()
	if err != nil {
		return nil, err
	}
	mark := markOf(homes)
	cfg, err := config.Load(homes)
	if err != nil {
		return nil, err
	}
	list, err := Load(cfg)
	if err == nil {
		f.tasks, f.mark = list, mark
	}
	return list, err
}

// Look reads the tasks again if a file was written, added or removed since the last
// Read or Look, or if there were mistakes; read reports whether it did. A change counts
// once an earlier Look has seen it, so that nobody reads half a file. Tasks of a file with
// mistakes stay as they were; err reports the mistakes.
func (f *Files) Look() (list []Task, read bool, err error) {
	homes, err := f.Find()
	if err != nil {
		f.mark = ""
		return f.tasks, true, err
	}
	mark := markOf(homes)
	if mark == f.mark || !f.settled(mark) {
		return f.tasks, false, nil
	}
	list = f.tasks
	cfg, err := config.Load(homes)
	if err == nil {
		list, err = reload(cfg, f.tasks)
	}
	if markOf(homes) != mark { // Somebody is writing: look later.
		return f.tasks, false, nil
	}
	f.tasks, f.mark = list, mark
	if err != nil {
		f.mark = "" // What is wrong may be mended elsewhere.
	}
	return f.tasks, true, err
}

// settled reports whether the files have had the mark for long enough. The times of the
// files do not tell: a file that is cut off has its old one for a moment, and the clocks of
// file systems can be wrong.
func (f *Files) settled(mark string) bool {
	now := time.Now
	if f.Now != nil {
		now = f.Now
	}
	if mark != f.seen {
		f.seen, f.since = mark, now()
		return false
	}
	return now().Sub(f.since) >= settleTime
}

// reload is Load where a file with mistakes keeps the tasks that were read from it.
func reload(c *config.Config, old []Task) ([]Task, error) {
	list, mistakes := Load(c)
	if mistakes == nil {
		return list, nil
	}
	good := *c
	good.Files = maps.Clone(c.Files)
	bad := map[string]bool{}
	for err := mistakes; err != nil; { // What inherits from a bad file is bad, too.
		all, ok := errors.AsType[config.Errors](err)
		before := len(good.Files["tasks"])
		for _, e := range all {
			bad[e.File] = true
		}
		good.Files["tasks"] = slices.DeleteFunc(
			slices.Clone(good.Files["tasks"]),
			func(f config.File) bool { return bad[f.Path] },
		)
		if !ok || len(good.Files["tasks"]) == before {
			return old, mistakes
		}
		list, err = Load(&good)
	}
	for _, t := range old {
		if bad[t.Source.File] {
			list = slices.DeleteFunc(list, func(x Task) bool { return strings.EqualFold(x.Name, t.Name) })
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int { return strings.Compare(a.Name, b.Name) })
	return list, mistakes
}

// What of the directories of tasks is looked at, in case that links make them endless;
// the configuration has the same bounds.
const (
	maxFiles = 10_000
	maxLevel = 16
)

// markOf changes when a file below the directories of tasks is written, added or removed.
func markOf(homes config.Homes) string {
	m := marker{left: maxFiles}
	for _, home := range homes.All() {
		m.add(filepath.Join(home, "config", "tasks"), 0)
	}
	return m.text.String()
}

type marker struct {
	text strings.Builder
	left int // Files and directories.
}

func (m *marker) add(path string, level int) {
	if m.left--; m.left < 0 || level > maxLevel {
		return
	}
	info, err := os.Stat(path) // Links count as what they point to.
	switch {
	case err != nil:
		fmt.Fprintf(&m.text, "%q -\n", path)
	case info.IsDir():
		fmt.Fprintf(&m.text, "%q\n", path)
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			m.add(filepath.Join(path, e.Name()), level+1)
		}
	default:
		fmt.Fprintf(&m.text, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
}
