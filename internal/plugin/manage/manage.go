// Package manage installs, updates and removes plugins, and keeps the record of what
// is installed. It never runs a plugin except to see whether it loads.
package manage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/wording"
)

// Names of what lies in a home.
const (
	lockName     = "plugins.lock" // Below a home.
	originName   = ".origin.yaml" // In the directory of an installation from git.
	manifestName = "plugin.yaml"
	workName     = ".work" // In a plugins directory: what is being installed or removed.
)

// sdkPath is the module that the program itself provides.
const sdkPath = "github.com/idelchi/aura/sdk"

// Home is a configuration home with its plugins. Neither directory need exist.
type Home struct {
	Dir     string // Where the lock file is.
	Plugins string // The plugins directory; empty means "plugins" in Dir.
	Global  bool   // It is the user's, not the project's.
}

// Options says where plugins are and how to work on them. Only Homes is required.
type Options struct {
	Homes   []Home   // The one that is written to last.
	Include []string // Name patterns of the plugins that are used; empty means all.
	Exclude []string // Name patterns; wins over Include.
	Unsafe  bool     // Plugins may use what only unsafe mode offers.

	Env      []string  // The environment; nil means that of the process.
	Progress io.Writer // Gets a line for each step that takes time; nil drops them.
	Live     bool      // Progress is a terminal: git's and go's own progress is shown too.

	Logger *slog.Logger
}

// Manager works on the plugins of some homes.
type Manager struct {
	o      Options
	inject func(step string) error // Lets tests fail a step.
}

// New returns a Manager.
func New(o Options) *Manager {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	o.Progress = &shared{w: o.Progress}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Homes = slices.Clone(o.Homes)
	for i, h := range o.Homes {
		if h.Plugins == "" {
			o.Homes[i].Plugins = filepath.Join(h.Dir, "plugins")
		}
	}
	return &Manager{o: o, inject: func(string) error { return nil }}
}

// shared lets several programs show their progress at once.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// say reports a step.
func (m *Manager) say(format string, args ...any) {
	fmt.Fprintf(m.o.Progress, format+"\n", args...)
}

// getenv looks into the environment of the options. The last entry wins.
func (m *Manager) getenv(name string) string {
	for _, kv := range slices.Backward(m.o.Env) {
		if key, value, ok := strings.Cut(kv, "="); ok && (key == name || windows && strings.EqualFold(key, name)) {
			return value
		}
	}
	return ""
}

// home is the one that is written to.
func (m *Manager) home() (Home, error) {
	if len(m.o.Homes) == 0 {
		return Home{}, errors.New("plugins: there is no configuration directory to work on")
	}
	return m.o.Homes[len(m.o.Homes)-1], nil
}

// unit is what is installed, updated and removed as one: a plugin or a pack.
type unit struct {
	Home    Home
	Rel     string // Path below the plugins directory, with slashes.
	Dir     string
	Origin  *Origin // Nil for what did not come from git.
	Entry   *Entry  // Nil for what is not in the lock file.
	Plugins []plugin.Info
}

// Name is the name of a pack: that of its directory.
func (u *unit) Name() string { return filepath.Base(u.Dir) }

// pack reports whether p is one of several plugins that came together.
func (u *unit) pack(p plugin.Info) bool { return u.Dir != p.Dir && len(u.Plugins) > 1 }

// units finds what is installed in a home, without running anything.
func (m *Manager) units(ctx context.Context, home Home) ([]*unit, error) {
	infos, err := m.look(ctx, home.Plugins)
	if err != nil {
		return nil, err
	}
	lock, err := readLock(home.Dir)
	if err != nil {
		return nil, err
	}
	units, err := group(home, lock, infos)
	for _, u := range units {
		u.scope()
	}
	return slices.DeleteFunc(units, func(u *unit) bool { return len(u.Plugins) == 0 }), err
}

// scope drops plugins outside the subpath that was installed.
func (u *unit) scope() {
	if u.Origin == nil || u.Origin.Subpath == "" {
		return
	}
	scope := filepath.Join(u.Dir, filepath.FromSlash(u.Origin.Subpath))
	u.Plugins = slices.DeleteFunc(u.Plugins, func(p plugin.Info) bool { return !inside(scope, p.Dir) })
}

// group sorts plugins into the units they belong to.
func group(home Home, lock *Lock, infos []plugin.Info) ([]*unit, error) {
	root := home.Plugins
	byDir := map[string]*unit{}
	var list []*unit
	for _, info := range infos {
		dir, err := unitDir(root, info.Dir, lock)
		if err != nil {
			return nil, err
		}
		u := byDir[dir]
		if u == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return nil, err
			}
			u = &unit{Home: home, Dir: dir, Rel: filepath.ToSlash(rel)}
			u.Entry = lock.Plugins[u.Rel]
			if u.Origin, err = readOrigin(dir); err != nil {
				return nil, err
			}
			byDir[dir] = u
			list = append(list, u)
		}
		u.Plugins = append(u.Plugins, info)
	}
	return list, nil
}

// unitDir is the directory that was installed as one with the plugin in dir: the
// nearest one, going up, with an origin or a line in the lock file.
func unitDir(root, dir string, lock *Lock) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		rel, err := filepath.Rel(root, d)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			return dir, nil
		}
		if lock.Plugins[filepath.ToSlash(rel)] != nil {
			return d, nil
		}
		switch _, err := os.Lstat(filepath.Join(d, originName)); {
		case err == nil:
			return d, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", err
		}
	}
}

// look finds the plugins below a directory and runs nothing.
func (m *Manager) look(ctx context.Context, dir string) ([]plugin.Info, error) {
	return m.load(ctx, plugin.Options{Dirs: []string{dir}, Exclude: []string{"*"}})
}

// load loads plugins for their descriptions. One that fails is described, too.
func (m *Manager) load(ctx context.Context, o plugin.Options) ([]plugin.Info, error) {
	o.Unsafe, o.Lenient, o.Logger = m.o.Unsafe, true, m.o.Logger
	o.Environ = func() []string { return m.o.Env }
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	set, err := plugin.Load(ctx, o)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	return set.Plugins(), nil
}

// find returns the unit that a user means by the name of a plugin or pack. The
// home that is written to is searched first. If the name is that of a plugin, its
// description comes along.
func (m *Manager) find(ctx context.Context, name string) (*unit, *plugin.Info, error) {
	var known []string
	for _, home := range slices.Backward(m.o.Homes) {
		units, err := m.units(ctx, home)
		if err != nil {
			return nil, nil, err
		}
		for _, u := range units {
			if strings.EqualFold(u.Name(), name) && (u.Origin != nil || u.Entry != nil) && len(u.Plugins) > 1 {
				return u, nil, nil
			}
		}
		for _, u := range units {
			for i, p := range u.Plugins {
				if strings.EqualFold(p.Name, name) {
					return u, &u.Plugins[i], nil
				}
				known = append(known, p.Name)
			}
		}
		for _, u := range units {
			if strings.EqualFold(u.Name(), name) && (u.Origin != nil || u.Entry != nil) {
				return u, nil, nil
			}
			if u.pack(u.Plugins[0]) {
				known = append(known, u.Name())
			}
		}
	}
	return nil, nil, unknown(name, known)
}

// Names lists the names that a user may use: those of plugins and of packs.
func (m *Manager) Names(ctx context.Context) ([]string, error) {
	var names []string
	for _, home := range m.o.Homes {
		units, err := m.units(ctx, home)
		if err != nil {
			return nil, err
		}
		for _, u := range units {
			for _, p := range u.Plugins {
				names = append(names, p.Name)
			}
			if u.pack(u.Plugins[0]) {
				names = append(names, u.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// unknown is the error for a name that nothing has.
func unknown(name string, known []string) error {
	slices.Sort(known)
	known = slices.Compact(known)
	hint := "none is installed: add one with \"aura plugins add\""
	if len(known) > 0 {
		hint = "there are " + strings.Join(known, ", ")
	}
	if best := wording.Closest(name, known); best != "" {
		hint = fmt.Sprintf("did you mean %q? %s", best, hint)
	}
	return fmt.Errorf("no plugin %q (%s)", name, hint)
}
