package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/plugin/manifest"
	"github.com/idelchi/aura/internal/tool"
)

// candidate is a plugin that was found.
type candidate struct {
	name     string
	dir      string
	root     string
	manifest manifest.Manifest
	status   Status
	err      error // It cannot be loaded.
}

func (c *candidate) info() Info {
	m := c.manifest
	return Info{
		Name: c.name, Dir: c.dir, Root: c.root, Status: c.status, Description: m.Description,
		Condition: m.Condition, Once: m.Once, Engine: m.Engine, Override: m.Override,
	}
}

// discover finds the plugins of all directories in the order in which they run:
// directory by directory, each sorted by path.
func discover(o Options) ([]candidate, error) {
	var all []candidate
	var errs []error
	for _, root := range o.Dirs {
		var dirs []string
		err := walk(root, func(dir string) bool { dirs = append(dirs, dir); return true })
		if err != nil {
			return nil, fmt.Errorf("plugins: %w", err)
		}
		var list []candidate
		for _, dir := range dirs {
			list = append(list, examine(root, dir, o))
		}
		errs = append(errs, duplicates(list)...)
		shadow(all, list)
		all = append(all, list...)
	}
	if len(errs) > 0 && !o.Lenient {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// examine reads what a plugin says about itself and decides whether to load it.
func examine(root, dir string, o Options) candidate {
	c := candidate{name: filepath.Base(dir), dir: dir, root: root, status: Enabled}
	c.manifest, c.err = readManifest(dir)
	if c.err == nil && c.manifest.Name != "" {
		c.name = c.manifest.Name
	}
	filter := tool.Filter{Enabled: o.Include, Disabled: o.Exclude}
	switch {
	case !filter.Allows(c.name):
		c.status, c.err = Excluded, nil
	case c.err == nil && c.manifest.Disabled:
		c.status = Disabled
	}
	return c
}

// duplicates reports plugins of one directory that share a name.
func duplicates(list []candidate) (errs []error) {
	first := map[string]*candidate{}
	for i := range list {
		c := &list[i]
		if c.status != Enabled {
			continue
		}
		key := strings.ToLower(c.name)
		if other := first[key]; other != nil {
			err := fmt.Errorf(
				"two plugins are called %q: %s and %s (rename one with \"name:\" in its plugin.yaml)",
				c.name,
				other.dir,
				c.dir,
			)
			c.err = err
			errs = append(errs, err)
			continue
		}
		first[key] = c
	}
	return errs
}

// shadow marks earlier plugins whose names later ones take.
func shadow(earlier, later []candidate) {
	for i := range earlier {
		e := &earlier[i]
		if e.status == Enabled && slices.ContainsFunc(later, func(l candidate) bool {
			return l.status == Enabled && strings.EqualFold(l.name, e.name)
		}) {
			e.status, e.err = Shadowed, nil
		}
	}
}

// maxDepth bounds how deep plugins may be nested.
const maxDepth = 32

// walk calls found with the directory of every plugin below root, sorted by path,
// until it returns false. It does not look into plugins, hidden directories and
// vendor. Links to directories are followed, each directory once. A root that does
// not exist has no plugins.
func walk(root string, found func(dir string) bool) error {
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", root)
	}
	w := walker{found: found, seen: map[string]bool{}}
	w.dir(root, 0)
	return w.err
}

type walker struct {
	found func(dir string) bool
	seen  map[string]bool
	err   error
}

// dir visits one directory; false ends the walk.
func (w *walker) dir(dir string, depth int) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.err = err
		return false
	}
	scope, err := installedScope(dir, entries)
	if err != nil {
		w.err = err
		return false
	}
	if scope != "" {
		if info, err := os.Stat(scope); err != nil || !info.IsDir() || depth == maxDepth {
			return true
		}
		return w.dir(scope, depth+1)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == manifest.Name && !e.IsDir() }) {
		return w.found(dir)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "vendor" || depth == maxDepth {
			continue
		}
		sub := filepath.Join(dir, name)
		if e.Type()&fs.ModeSymlink != 0 {
			real, err := filepath.EvalSymlinks(sub)
			if err != nil || w.seen[real] {
				continue
			}
			w.seen[real] = true
			if info, err := os.Stat(real); err != nil || !info.IsDir() {
				continue
			}
		} else if !e.IsDir() {
			continue
		}
		if !w.dir(sub, depth+1) {
			return false
		}
	}
	return true
}

// originName is the record that an installation from git has in its directory.
const originName = ".origin.yaml"

// installedScope is the directory that alone counts of an installation from git, if
// it was installed with a subpath; else "".
func installedScope(dir string, entries []fs.DirEntry) (string, error) {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == originName }) {
		return "", nil
	}
	file := filepath.Join(dir, originName)
	text, err := readFile(file, maxManifest)
	if err != nil {
		return "", err
	}
	var origin struct {
		Subpath string `yaml:"subpath"`
	}
	if err := yaml.Unmarshal(text, &origin); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if origin.Subpath == "" {
		return "", nil
	}
	sub := filepath.Clean(filepath.FromSlash(origin.Subpath))
	if sub == "." || !filepath.IsLocal(sub) {
		return "", fmt.Errorf("%s: subpath %q is not a path inside it", file, origin.Subpath)
	}
	return filepath.Join(dir, sub), nil
}
