// Package gitignore reads the files that say what git ignores and answers for a walk
// that goes down from a root: one that never enters what is ignored.
package gitignore

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/idelchi/go-gitignore/wildmatch"
)

const (
	maxIgnoreFile = 1 << 20
	// A pattern with more stars than this is left out: matching it could take for ever.
	maxStars = 12
)

// rule is one line of a .gitignore file. The package gitignore asks for every path
// about all its parents again; a walk that never enters what is ignored need not, so
// only its matcher is used here.
type rule struct {
	pattern  string
	negated  bool
	dirOnly  bool
	baseOnly bool // No slash: compared with the last name only.
	literal  bool
	suffix   bool // `*literal`, held as literal.
}

// file is one .gitignore file.
type file struct {
	dir  string // Slash-separated path of its directory from the root of the walk; "" at the root.
	up   string // For files above the root: the path from there down to the root.
	list []rule
}

// Rules are all that hold in a directory; the last file is the innermost. Nil has none.
type Rules struct {
	file   *file
	parent *Rules
}

// With adds the file of a directory below the root of the walk, if it has any rules. Dir is
// the path of the directory from the root, with slashes; "" is the root itself.
func (ig *Rules) With(path, dir string) *Rules { return ig.with(path, dir, "") }

func (ig *Rules) with(path, dir, up string) *Rules {
	list := readRules(path)
	if len(list) == 0 {
		return ig
	}
	return &Rules{&file{dir, up, list}, ig}
}

// Ignores reports whether git would ignore path. Its parents must not be ignored.
func (ig *Rules) Ignores(path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for ; ig != nil; ig = ig.parent {
		rel := path
		if ig.file.dir != "" {
			rel = strings.TrimPrefix(path[len(ig.file.dir):], "/")
		} else if ig.file.up != "" {
			rel = ig.file.up + "/" + path
		}
		for i := len(ig.file.list) - 1; i >= 0; i-- {
			if r := &ig.file.list[i]; r.matches(rel, base, isDir) {
				return !r.negated
			}
		}
	}
	return false
}

func (r *rule) matches(path, base string, isDir bool) bool {
	switch {
	case r.dirOnly && !isDir:
		return false
	case r.baseOnly && r.suffix:
		return strings.HasSuffix(base, r.pattern)
	case r.baseOnly && r.literal:
		return base == r.pattern
	case r.baseOnly:
		return wildmatch.MatchOpt(r.pattern, base, wildmatch.WMOptions{})
	case r.literal:
		return path == r.pattern
	}
	return wildmatch.MatchOpt(r.pattern, path, wildmatch.WMOptions{Pathname: true})
}

// readRules reads a file of patterns; one that cannot be read has none.
func readRules(file string) []rule {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var list []rule
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if r, ok := parseRule(line); ok {
			list = append(list, r)
		}
	}
	return list
}

func parseRule(line string) (rule, bool) {
	var r rule
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.negated, line = true, rest
	}
	for strings.HasSuffix(line, " ") {
		escapes := len(line) - 1 - len(strings.TrimRight(line[:len(line)-1], `\`))
		if escapes%2 == 1 {
			break
		}
		line = line[:len(line)-1]
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	if line == "" || strings.Count(line, "*") > maxStars || len(line) > 1000 {
		return r, false
	}
	r.baseOnly = !strings.Contains(line, "/")
	r.pattern = strings.TrimPrefix(line, "/")
	r.literal = !strings.ContainsAny(r.pattern, `*?[\`)
	if rest, ok := strings.CutPrefix(r.pattern, "*"); ok && r.baseOnly && !strings.ContainsAny(rest, `*?[\`) {
		r.suffix, r.pattern = true, rest
	}
	return r, true
}

// Above are the rules that hold at root because of what is above it: the
// .gitignore files up to the top of the repository and its info/exclude. A root that
// is itself ignored was asked for by name, so none of them count there.
func Above(root string) *Rules {
	top := root
	for {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return nil
		}
		top = parent
	}
	rel, err := filepath.Rel(top, root)
	if err != nil {
		return nil
	}
	below := filepath.ToSlash(rel)
	if below == "." {
		return (*Rules)(nil).with(filepath.Join(top, ".git", "info", "exclude"), "", "")
	}
	var ig *Rules
	ig = ig.with(filepath.Join(top, ".git", "info", "exclude"), "", below)
	names := strings.Split(below, "/")
	for i := range names {
		dir := filepath.Join(top, filepath.FromSlash(strings.Join(names[:i], "/")))
		ig = ig.with(filepath.Join(dir, ".gitignore"), "", strings.Join(names[i:], "/"))
		if ig.ignoresBelow(names[i:]) {
			return nil
		}
	}
	return ig
}

// ignoresBelow reports whether the directory names[0], on the way down to the root, is ignored.
func (ig *Rules) ignoresBelow(names []string) bool {
	for ; ig != nil; ig = ig.parent {
		// up leads from the rules' directory to the root; names is its tail.
		path := strings.TrimSuffix(strings.TrimSuffix(ig.file.up, strings.Join(names[1:], "/")), "/")
		for i := len(ig.file.list) - 1; i >= 0; i-- {
			if r := &ig.file.list[i]; r.matches(path, names[0], true) {
				return !r.negated
			}
		}
	}
	return false
}
