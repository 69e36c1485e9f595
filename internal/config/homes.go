package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Dir is the name of a home inside a user's or project's directory.
const Dir = ".aura"

// Homes are the directories that configuration is read from. All are absolute; one that
// does not exist counts as empty.
type Homes struct {
	Global   string   // Empty when there is none.
	Projects []string // Later ones win.
}

// All lists the homes, the winning one last.
func (h Homes) All() []string {
	if h.Global == "" {
		return slices.Clone(h.Projects)
	}
	return append([]string{h.Global}, h.Projects...)
}

// Last is the home that is written to: the last project, else the global one, else "".
func (h Homes) Last() string {
	if n := len(h.Projects); n > 0 {
		return h.Projects[n-1]
	}
	return h.Global
}

// Project is the home inside the project around workdir: its git repository, or workdir
// itself. It is "" if there is none; a home given with --config may belong to many.
func (h Homes) Project(workdir string) string {
	dirs, _ := Within(workdir)
	root := real(dirs[0])
	for _, home := range slices.Backward(h.Projects) {
		if rel, err := filepath.Rel(root, real(home)); err == nil && filepath.IsLocal(rel) {
			return home
		}
	}
	return ""
}

// real follows the links of a path, if it exists.
func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// HomeOptions say where to look for homes.
type HomeOptions struct {
	Home    *string  // --home, from the current directory. Nil is ~/.aura; "" is no global home.
	Config  []string // --config, from the current directory. Empty searches from Workdir.
	Workdir string   // Empty is the current directory.
}

// FindHomes finds the homes. Without --config the project home is .aura in the working
// directory or, inside a git repository, in the nearest parent up to its root; outside
// one no parent is searched, so that nobody else's directory can configure this run. The
// global home is never also a project. A --config directory that does not exist is an error.
func FindHomes(o HomeOptions) (Homes, error) {
	workdir, err := filepath.Abs(o.Workdir)
	if err != nil {
		return Homes{}, fmt.Errorf("working directory: %w", err)
	}
	var h Homes
	switch {
	case o.Home == nil:
		// A user without a home directory simply has no global home.
		if dir, err := os.UserHomeDir(); err == nil {
			h.Global = filepath.Join(dir, Dir)
		}
	case *o.Home != "":
		if h.Global, err = filepath.Abs(*o.Home); err != nil {
			return Homes{}, fmt.Errorf("--home %s: %w", *o.Home, err)
		}
	}
	if len(o.Config) == 0 {
		if dir := findProject(workdir, h.Global); dir != "" {
			h.Projects = []string{dir}
		}
		return h, nil
	}
	for _, dir := range o.Config {
		abs, err := filepath.Abs(dir)
		if err == nil {
			err = needDirectory(abs)
		}
		if err != nil {
			return Homes{}, fmt.Errorf("--config %s: %w (create it with `aura init --dir %s`)", dir, err, dir)
		}
		if !slices.Contains(h.Projects, abs) && !same(abs, h.Global) {
			h.Projects = append(h.Projects, abs)
		}
	}
	return h, nil
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func needDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such directory")
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("not a directory")
	}
	return nil
}

func findProject(workdir, global string) string {
	usable := func(dir string) bool {
		home := filepath.Join(dir, Dir)
		return needDirectory(home) == nil && !same(home, global)
	}
	dirs, _ := Within(workdir)
	for _, dir := range slices.Backward(dirs) {
		if usable(dir) {
			return filepath.Join(dir, Dir)
		}
	}
	return ""
}

// Within lists the directories from the root of the git repository around dir down to
// dir itself, which is the last. Outside a repository it is dir alone and repository is
// false: nobody else's directories above it count.
func Within(dir string) (dirs []string, repository bool) {
	for d := dir; ; d = filepath.Dir(d) {
		dirs = append(dirs, d)
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			slices.Reverse(dirs)
			return dirs, true
		}
		if filepath.Dir(d) == d {
			return dirs[:1], false
		}
	}
}

// same reports whether two paths are one directory, also through links.
func same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
