package manage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/tools"
)

// AddOptions say what to install. Only Source is required.
type AddOptions struct {
	Source   string // Git URL or path.
	Workdir  string // What a relative path starts from.
	Ref      string // Tag, branch or commit; empty is the default branch.
	Name     string // Directory; empty follows from Source.
	Subpath  string // Directory inside the source that counts; empty is all of it.
	NoVendor bool
}

// Installed is what was installed.
type Installed struct {
	Name    string // Of the directory.
	Dir     string
	Origin  *Origin // Nil for a copied directory.
	Plugins []plugin.Info
}

// Add installs a plugin or a pack into the home that is written to. If anything
// fails, nothing is left behind.
func (m *Manager) Add(ctx context.Context, o AddOptions) (*Installed, error) {
	from, err := parsePlace(o.Source, o.Workdir)
	if err != nil {
		return nil, err
	}
	if o.Subpath, err = cleanSubpath(o.Subpath); err != nil {
		return nil, err
	}
	name, err := o.directory(from)
	if err != nil {
		return nil, err
	}
	home, err := m.home()
	if err != nil {
		return nil, err
	}
	c, err := m.begin(ctx, home)
	if err != nil {
		return nil, err
	}
	defer c.end()
	target := filepath.Join(c.root, name)
	if _, err := os.Lstat(target); err == nil {
		return nil, fmt.Errorf(
			"%s exists already (update it with \"aura plugins update %s\", or choose another --name)",
			target,
			name,
		)
	}
	staged, err := c.stage(name)
	if err != nil {
		return nil, err
	}
	entry := &Entry{NoVendor: o.NoVendor}
	if from.URL != "" {
		rev, err := m.clone(ctx, from, o.Ref, staged)
		if err != nil {
			return nil, err
		}
		entry.URL, entry.Ref, entry.Commit, entry.Subpath = from.URL, o.Ref, rev, o.Subpath
	} else if err := m.copyIn(from.Dir, o, staged, c); err != nil {
		return nil, err
	}
	plugins, err := c.finish(ctx, staged, name, entry)
	if err != nil {
		return nil, err
	}
	if err := c.install(staged, name, entry); err != nil {
		return nil, err
	}
	return &Installed{Name: name, Dir: target, Origin: entry.origin(), Plugins: rebase(plugins, staged, target)}, nil
}

// directory is the name of the directory to install into.
func (o *AddOptions) directory(from place) (string, error) {
	name := o.Name
	switch {
	case name != "":
	case from.URL != "":
		name = defaultName(from.URL)
	case o.Subpath != "":
		name = path.Base(o.Subpath)
	default:
		name = filepath.Base(from.Dir)
	}
	if o.Ref != "" && from.URL == "" {
		return "", fmt.Errorf("--ref %s: %s is a plain directory, not a repository", o.Ref, o.Source)
	}
	if err := checkName(name); err != nil {
		return "", fmt.Errorf("%w (choose one with --name)", err)
	}
	return name, nil
}

// clone fetches a repository into dir and returns the commit.
func (m *Manager) clone(ctx context.Context, from place, ref, dir string) (string, error) {
	m.say("cloning %s", from.URL)
	r, rev, err := m.reach(ctx, from, ref)
	if err != nil {
		return "", err
	}
	if err := m.inject("clone"); err != nil {
		return "", err
	}
	commit, err := r.fetch(ctx, dir, rev, "")
	if err != nil {
		return "", err
	}
	return commit, checkTree(dir)
}

// copyIn copies a directory of this machine.
func (m *Manager) copyIn(dir string, o AddOptions, staged string, c *change) error {
	dir = filepath.Join(dir, filepath.FromSlash(o.Subpath))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: no directory %s in it", o.Source, o.Subpath)
	}
	if inside(c.root, dir) {
		return fmt.Errorf("%s is in the plugins directory already", o.Source)
	}
	m.say("copying %s", dir)
	// A project that is a plugin holds its own home.
	return copyTree(dir, staged, c.home.Dir, c.root)
}

// finish makes a staged directory ready to run: it must contain plugins, which are
// vendored, checked and described. The entry gets the content hash.
func (c *change) finish(ctx context.Context, staged, rel string, entry *Entry) ([]plugin.Info, error) {
	scope := filepath.Join(staged, filepath.FromSlash(entry.Subpath))
	if info, err := os.Stat(scope); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("subpath %q: there is no such directory in the repository", entry.Subpath)
	}
	plugins, err := c.m.look(ctx, scope)
	if err != nil {
		return nil, err
	}
	if len(plugins) == 0 {
		where := "it"
		if entry.Subpath != "" {
			where = entry.Subpath
		}
		return nil, fmt.Errorf("no plugin found: there is no %s anywhere in %s", manifestName, where)
	}
	if !entry.NoVendor {
		if err := c.m.vendor(ctx, plugins); err != nil {
			return nil, err
		}
	}
	if err := c.m.inject("check"); err != nil {
		return nil, err
	}
	if plugins, err = c.m.check(ctx, scope, plugins); err != nil {
		return nil, err
	}
	if err := c.clash(ctx, rel, plugins); err != nil {
		return nil, err
	}
	if origin := entry.origin(); origin != nil {
		if err := writeOrigin(staged, origin); err != nil {
			return nil, err
		}
	}
	entry.Hash, err = hashTree(staged)
	return plugins, err
}

// check loads staged plugins, to see that they load and suit this program.
func (m *Manager) check(ctx context.Context, scope string, plugins []plugin.Info) ([]plugin.Info, error) {
	var errs []error
	for _, p := range plugins {
		v, err := plugin.SDKVersion(p.Dir)
		if err == nil && v != "" {
			err = plugin.Compatible(v, plugin.HostSDK)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("plugin %q: %w", p.Name, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	m.say("checking %s", names(plugins))
	probed, err := m.load(ctx, plugin.Options{Dirs: []string{scope}})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, p := range probed {
		if p.Err != nil {
			errs = append(errs, fmt.Errorf("plugin %q does not load: %w", p.Name, p.Err))
		}
	}
	return probed, errors.Join(errs...)
}

// clash refuses plugins whose names, or whose tools' names, others have: aura would
// not start.
func (c *change) clash(ctx context.Context, rel string, plugins []plugin.Info) error {
	units, err := c.m.units(ctx, c.home)
	if err != nil {
		return err
	}
	errs, err := c.toolClash(ctx, rel, plugins)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.Rel == rel {
			continue
		}
		for _, have := range u.Plugins {
			if off, err := isDisabled(have.Dir); off && err == nil {
				continue
			}
			if slices.ContainsFunc(plugins, func(p plugin.Info) bool {
				return p.Status == plugin.Enabled && strings.EqualFold(p.Name, have.Name)
			}) {
				errs = append(
					errs,
					fmt.Errorf(
						"there is a plugin %q already, in %s (remove or disable it first, or use --name)",
						have.Name,
						have.Dir,
					),
				)
			}
		}
	}
	return errors.Join(errs...)
}

// toolClash finds the tools of plugins whose names are taken, by a tool that is built
// in or by one of another plugin.
func (c *change) toolClash(ctx context.Context, rel string, plugins []plugin.Info) (errs []error, err error) {
	if !slices.ContainsFunc(plugins, func(p plugin.Info) bool { return p.Tool != "" && !p.Override }) {
		return nil, nil
	}
	owners := map[string]string{}
	for _, t := range tools.New(tools.Options{}) {
		owners[t.Name] = "built in"
	}
	var dirs []string
	for _, home := range c.m.o.Homes {
		dirs = append(dirs, home.Plugins)
	}
	others, err := c.m.load(ctx, plugin.Options{Dirs: dirs, Include: c.m.o.Include, Exclude: c.m.o.Exclude})
	if err != nil {
		return nil, err
	}
	self := filepath.Join(c.root, filepath.FromSlash(rel))
	for _, p := range others {
		if p.Tool != "" && p.Dir != self && !strings.HasPrefix(p.Dir, self+string(filepath.Separator)) {
			owners[p.Tool] = fmt.Sprintf("of plugin %q", p.Name)
		}
	}
	for _, p := range plugins {
		if p.Tool == "" || p.Status != plugin.Enabled || p.Override {
			continue
		}
		if owner, taken := owners[p.Tool]; taken {
			errs = append(
				errs,
				fmt.Errorf(
					"plugin %q: there is a tool %q already, %s (only a plugin with \"override: true\" in its "+
						"plugin.yaml may replace it)",
					p.Name,
					p.Tool,
					owner,
				),
			)
		}
		owners[p.Tool] = fmt.Sprintf("of plugin %q", p.Name)
	}
	return errs, nil
}

// rebase gives descriptions the directory that the plugins were moved to.
func rebase(plugins []plugin.Info, from, to string) []plugin.Info {
	out := slices.Clone(plugins)
	for i := range out {
		if rel, err := filepath.Rel(from, out[i].Dir); err == nil {
			out[i].Dir = filepath.Join(to, rel)
		}
		out[i].Root = filepath.Dir(to)
	}
	return out
}
