// Package skills finds the skills that people wrote in Markdown and offers them to
// the model. It does what no skill says: reading bundled files and running scripts
// is done by the model with its other tools.
package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

const (
	maxTotal  = 32 << 20 // Bytes of all skills together.
	maxSkills = 1000     // In all places together.
	maxLevel  = 8        // Directories below a place.
)

// isBundle reports whether a file makes its directory a skill.
func isBundle(name string) bool { return strings.EqualFold(name, "SKILL.md") }

// Skill is knowledge that the model can fetch when it needs it.
type Skill struct {
	Name        string            `json:"name"` // Unique without regard to case.
	Description string            `json:"description"`
	Tools       []string          `json:"allowed_tools,omitempty"` // What the skill says it needs.
	License     string            `json:"license,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Manual      bool              `json:"manual,omitempty"` // Only a user may use it; the model is not told.

	Source string   `json:"source"` // The place it was found in.
	File   string   `json:"file"`
	Dir    string   `json:"directory"` // Where relative paths of the text begin.
	Files  []string `json:"files,omitempty"`
	Body   string   `json:"body,omitempty"`
}

// Place is a directory that may hold skills.
type Place struct {
	Name string // For listings: "project", "global", ".claude".
	Dir  string

	// Foreign places belong to other programs too: only <dir>/SKILL.md is a skill
	// there, and keys that nobody knows are none of our business.
	Foreign bool
}

// Problem is a skill that cannot be used as it was meant.
type Problem struct {
	File string
	Err  error // Begins with the file and, where there is one, the line.
}

func (p Problem) Error() string { return p.Err.Error() }

// Find reads the skills of all places, sorted by name. A skill of a later place
// takes the place of one of the same name; places that do not exist are empty.
// What is wrong with one skill does not concern the others.
func Find(places []Place) ([]Skill, []Problem) {
	f := &finder{owner: map[string]int{}}
	var seen []os.FileInfo
	for i, p := range places {
		info, err := os.Stat(p.Dir)
		if err != nil || !info.IsDir() {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.problem(p.Dir, err)
			}
			continue
		}
		// The same directory by two ways, such as a project that is somebody's home.
		if slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		seen = append(seen, info)
		f.place, f.number = p, i
		f.walk(p.Dir, []os.FileInfo{info})
	}
	slices.SortStableFunc(f.list, func(a, b Skill) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return f.list, f.problems
}

// finder is the state of one Find.
type finder struct {
	place    Place
	number   int            // Of the place.
	owner    map[string]int // Places by the names of their skills, in lower case.
	size     int
	full     bool
	list     []Skill
	problems []Problem
}

func (f *finder) problem(file string, err error) {
	err = strictyaml.Reason(err)
	if !strings.HasPrefix(err.Error(), file) {
		err = fmt.Errorf("%s: %w", file, err)
	}
	f.problems = append(f.problems, Problem{file, err})
}

// walk finds the skills below dir; links are followed. above are the directories it
// is in.
func (f *finder) walk(dir string, above []os.FileInfo) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.problem(dir, err)
		return
	}
	if i := slices.IndexFunc(
		entries,
		func(e fs.DirEntry) bool { return isBundle(e.Name()) },
	); i >= 0 &&
		len(above) > 1 {
		f.load(filepath.Join(dir, entries[i].Name())) // Everything else in there belongs to it.
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if ignored(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			f.problem(path, err)
		case info.IsDir():
			if len(above) <= maxLevel &&
				!slices.ContainsFunc(above, func(up os.FileInfo) bool { return os.SameFile(up, info) }) {
				f.walk(path, append(slices.Clip(above), info))
			}
		case info.Mode().IsRegular() && !f.place.Foreign && strings.EqualFold(filepath.Ext(path), ".md"):
			f.load(path)
		}
	}
}

// ignored names are examples, notes to people and what systems leave behind.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, ".example.") ||
		strings.EqualFold(name, "README.md") ||
		name == "node_modules"
}

// load reads one skill and takes it in.
func (f *finder) load(path string) {
	if len(f.list) >= maxSkills || f.size > maxTotal {
		if !f.full {
			f.full = true
			f.problem(path, fmt.Errorf("more than %d skills or %d MiB: the rest is not read", maxSkills, maxTotal>>20))
		}
		return
	}
	src, err := read(path)
	if err != nil {
		f.problem(path, err)
		return
	}
	f.size += len(src)
	s, warnings, err := Parse(path, src, f.place.Foreign)
	for _, w := range warnings {
		f.problem(path, w)
	}
	if err != nil {
		f.problem(path, err)
		return
	}
	s.Source = f.place.Name
	if isBundle(filepath.Base(path)) {
		s.Files = bundled(s.Dir)
	}
	key := strings.ToLower(s.Name)
	owner, taken := f.owner[key]
	f.owner[key] = f.number
	if !taken {
		f.list = append(f.list, s)
		return
	}
	i := slices.IndexFunc(f.list, func(old Skill) bool { return strings.ToLower(old.Name) == key })
	if owner == f.number {
		f.problem(path, fmt.Errorf("skill %q is already defined in %s", s.Name, f.list[i].File))
		return
	}
	f.list[i] = s
}

func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // Opening a pipe would wait for somebody to write.
		return nil, errors.New("not a regular file")
	}
	return strictyaml.ReadFile(path)
}

const (
	maxBundled = 50   // Bundled files that a skill names to the model.
	maxVisited = 2000 // Files and directories that are looked at for that.
)

// bundled lists the files that come with a skill, relative to its directory.
func bundled(dir string) []string {
	var files []string
	visited := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		visited++
		switch {
		case visited > maxVisited:
			return fs.SkipAll
		case err != nil:
			return nil // What cannot be read is not offered.
		case path != dir && ignored(d.Name()) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || isBundle(d.Name()) || strings.HasPrefix(d.Name(), "."):
			return nil
		case len(files) == maxBundled:
			return fs.SkipAll
		}
		if rel, err := filepath.Rel(dir, path); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	return files
}

// Get finds a skill by name without regard to case.
func Get(list []Skill, name string) (Skill, error) {
	name = strings.TrimSpace(name)
	names := make([]string, len(list))
	for i, s := range list {
		if strings.EqualFold(s.Name, name) {
			return s, nil
		}
		names[i] = s.Name
	}
	hint := cmp.Or(wording.DidYouMean(name, names), "there are: "+wording.Line(strings.Join(names, ", "), 500))
	return Skill{}, fmt.Errorf("no skill %q (%s)", wording.Line(name, 60), hint)
}
