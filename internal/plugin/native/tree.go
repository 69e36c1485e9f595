package native

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Limits of what is read of one plugin.
const (
	maxFile  = 16 << 20
	maxTotal = 64 << 20
	maxFiles = 20_000
	maxDepth = 32
)

// File is one file of a plugin.
type File struct {
	Name string // With slashes, relative to the plugin; those of directories that go.mod names are absolute.
	Text []byte
}

// Tree is everything of a plugin that a build may depend on, sorted by name.
type Tree struct {
	Files []File
	Mod   *modfile.File

	size  int64
	index map[string]int // Of files by name.
}

// ReadTree reads the plugin in dir: its module and what it has vendored.
func ReadTree(dir string) (*Tree, error) {
	t := &Tree{index: map[string]int{}}
	if err := t.add(dir, "", 0); err != nil {
		return nil, err
	}
	text, ok := t.file("go.mod")
	if !ok {
		return nil, fmt.Errorf("no go.mod in %s (run \"go mod init <name>\" there)", dir)
	}
	var err error
	if t.Mod, err = modfile.ParseLax("go.mod", text, nil); err != nil {
		return nil, err
	}
	if t.Mod.Module == nil {
		return nil, errors.New("go.mod: no module line")
	}
	if !t.vendored() {
		// ParseLax leaves out the replacements, which matter now.
		if t.Mod, err = modfile.Parse("go.mod", text, nil); err != nil {
			return nil, err
		}
		for _, r := range t.Mod.Replace {
			if r.New.Version == "" && r.Old.Path != sdkPath {
				if err := t.add(
					replacement(dir, r.New.Path),
					filepath.ToSlash(replacement(dir, r.New.Path)),
					0,
				); err != nil {
					return nil, fmt.Errorf("go.mod: replace %s: %w", r.Old.Path, err)
				}
			}
		}
	}
	slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range t.Files {
		t.index[f.Name] = i
	}
	return t, nil
}

// replacement is the directory that a go.mod names.
func replacement(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// vendored reports whether the plugin brings its dependencies.
func (t *Tree) vendored() bool {
	_, ok := t.file("vendor/modules.txt")
	return ok
}

func (t *Tree) file(name string) ([]byte, bool) {
	i, ok := t.index[name]
	if !ok {
		return nil, false
	}
	return t.Files[i].Text, true
}

// add reads a directory. Links are followed. Of files that are no source, only those
// are read that the source might embed: what a plugin writes beside it must not
// make it another plugin.
func (t *Tree) add(dir, prefix string, depth int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: directories are nested too deep", dir)
	}
	var others []string
	embeds := false
	for _, e := range entries {
		name := e.Name()
		full := filepath.Join(dir, name)
		info, err := os.Stat(full)
		switch {
		case strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") || errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case info.IsDir():
			if name == "vendor" && depth > 0 {
				continue
			}
			if err := t.add(full, path.Join(prefix, name), depth+1); err != nil {
				return err
			}
		case info.Mode().IsRegular() && isSource(name):
			text, err := t.read(full, path.Join(prefix, name), info)
			if err != nil {
				return err
			}
			embeds = embeds || bytes.Contains(text, []byte("//go:embed"))
		case info.Mode().IsRegular():
			others = append(others, name)
		}
	}
	if !embeds {
		return nil
	}
	return t.addEmbedded(dir, prefix, others)
}

// isSource reports whether the go command looks at a file by itself.
func isSource(name string) bool {
	switch path.Ext(name) {
	case ".go", ".s", ".S", ".h", ".syso":
		return true
	}
	return name == "go.mod" || name == "go.sum" || name == "modules.txt"
}

// addEmbedded reads the files beside and below a source that embeds some.
func (t *Tree) addEmbedded(dir, prefix string, names []string) error {
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if _, err := t.read(filepath.Join(dir, name), path.Join(prefix, name), info); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, file); {
		case err != nil:
			return err
		case rel == ".":
			return nil
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor"):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || filepath.Dir(rel) == "." || isSource(d.Name()):
			return nil
		default:
			name := path.Join(prefix, filepath.ToSlash(rel))
			if _, there := t.file(name); there {
				return nil
			}
			info, err := d.Info()
			if err == nil {
				_, err = t.read(file, name, info)
			}
			return err
		}
	})
}

func (t *Tree) read(file, name string, info fs.FileInfo) ([]byte, error) {
	t.size += info.Size()
	if info.Size() > maxFile || t.size > maxTotal || len(t.Files) >= maxFiles {
		return nil, fmt.Errorf(
			"%s: more than can be built (%d MB in a file, %d MB and %d files in all)",
			file,
			maxFile>>20,
			maxTotal>>20,
			maxFiles,
		)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t.index[name] = len(t.Files)
	t.Files = append(t.Files, File{name, text})
	return text, nil
}
