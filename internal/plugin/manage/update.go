package manage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/plugin"
)

// UpdateOptions say how to update.
type UpdateOptions struct {
	NoVendor bool
	DryRun   bool // Only say what would come.
	Force    bool // Discard changes that were made by hand.
}

// Updated is what an update did to a plugin or pack.
type Updated struct {
	Name     string   `json:"name"` // Of the directory.
	From     string   `json:"from"` // Commits.
	To       string   `json:"to"`
	Changed  bool     `json:"changed"`         // Something was, or with DryRun would be, replaced.
	Commits  []string `json:"commits"`         // What came, newest first: short hash and subject.
	Files    []string `json:"files"`           // Which files differ: a letter as in git status, and the path.
	Plugins  []string `json:"plugins"`         // Names of the plugins in it.
	Vendored bool     `json:"vendored"`        // Only the vendored SDK was renewed.
	Err      error    `json:"-"`               // It could not be updated, and is as it was.
	Error    string   `json:"error,omitempty"` // The same for JSON.
}

// maxCommits bounds the list of commits.
const maxCommits = 50

// Update updates the plugins or packs with these names; all that came from git if
// there are none. What cannot be updated stays as it was, and does not keep the
// others from being updated: its error is in its result, and in the returned one.
func (m *Manager) Update(ctx context.Context, names []string, o UpdateOptions) ([]Updated, error) {
	var units []*unit
	if len(names) == 0 {
		for _, home := range m.o.Homes {
			found, err := m.units(ctx, home)
			if err != nil {
				return nil, err
			}
			units = append(units, slices.DeleteFunc(found, func(u *unit) bool { return u.Origin == nil })...)
		}
	}
	for _, name := range names {
		u, _, err := m.find(ctx, name)
		if err != nil {
			return nil, err
		}
		if u.Origin == nil {
			return nil, fmt.Errorf(
				"plugin %q did not come from git, so there is nothing to update it from (remove it and add it again)",
				name,
			)
		}
		if !slices.ContainsFunc(units, func(have *unit) bool { return have.Dir == u.Dir }) {
			units = append(units, u)
		}
	}
	var list []Updated
	var errs []error
	for _, u := range units {
		r, err := m.update(ctx, u, o)
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if err != nil {
			r = &Updated{Name: u.Name(), From: u.Origin.Commit, To: u.Origin.Commit, Err: err, Error: err.Error()}
			errs = append(errs, fmt.Errorf("%s was not updated and is as it was: %w", u.Name(), err))
		}
		list = append(list, *r)
	}
	return list, errors.Join(errs...)
}

// update updates one plugin or pack.
func (m *Manager) update(ctx context.Context, u *unit, o UpdateOptions) (*Updated, error) {
	c, err := m.begin(ctx, u.Home)
	if err != nil {
		return nil, err
	}
	defer c.end()
	from, err := parsePlace(u.Origin.URL, "")
	if err != nil {
		return nil, err
	}
	m.say("asking %s", from.URL)
	r, rev, err := m.reach(ctx, from, u.Origin.Ref)
	if err != nil {
		return nil, err
	}
	result := &Updated{
		Name:    u.Name(),
		From:    u.Origin.Commit,
		To:      u.Origin.Commit,
		Commits: []string{},
		Files:   []string{},
	}
	for _, p := range u.Plugins {
		result.Plugins = append(result.Plugins, p.Name)
	}
	same := rev.Commit == u.Origin.Commit ||
		rev.Commit == "" && strings.HasPrefix(u.Origin.Commit, strings.ToLower(rev.Name))
	if same && suits(u) == nil {
		return result, nil
	}
	staged, err := c.stage(u.Name())
	if err != nil {
		return nil, err
	}
	if result.To, err = r.fetch(ctx, staged, rev, u.Dir); err != nil {
		return nil, err
	}
	if err := checkTree(staged); err != nil {
		return nil, err
	}
	result.Changed, result.Vendored = true, same
	if err := m.compare(ctx, staged, result); err != nil {
		return nil, err
	}
	if o.DryRun {
		return result, nil
	}
	edits, err := c.edits(ctx, u, staged, o.Force)
	if err != nil {
		return nil, err
	}
	entry := &Entry{
		URL:      u.Origin.URL,
		Ref:      u.Origin.Ref,
		Commit:   result.To,
		Subpath:  u.Origin.Subpath,
		NoVendor: o.NoVendor,
	}
	plugins, err := c.finish(ctx, staged, u.Rel, entry)
	if err != nil {
		return nil, err
	}
	// After the content hash was taken: it is that of the commit.
	if plugins, err = c.carry(ctx, u, staged, entry.Subpath, plugins, edits); err != nil {
		return nil, err
	}
	result.Plugins = nil
	for _, p := range plugins {
		result.Plugins = append(result.Plugins, p.Name)
	}
	c.moved(u)
	return result, c.install(staged, u.Rel, entry)
}

// moved drops the record of an installation under the path it had before a user
// moved it. It takes effect with the next record.
func (c *change) moved(u *unit) {
	maps.DeleteFunc(c.lock.Plugins, func(rel string, e *Entry) bool {
		_, err := os.Lstat(filepath.Join(c.root, filepath.FromSlash(rel)))
		return u.Entry == nil && e.URL == u.Origin.URL && e.Subpath == u.Origin.Subpath &&
			errors.Is(err, fs.ErrNotExist)
	})
}

// suits reports whether the vendored SDK of every plugin suits this program.
func suits(u *unit) error {
	var errs []error
	for _, p := range u.Plugins {
		v, err := plugin.SDKVersion(p.Dir)
		if err == nil && v != "" {
			err = plugin.Compatible(v, plugin.HostSDK)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// compare lists what lies between the installed commit and the new one.
func (m *Manager) compare(ctx context.Context, staged string, r *Updated) error {
	if _, err := m.local(ctx, staged, "cat-file", "-e", r.From+"^{commit}"); err != nil {
		return nil // The earlier clone is gone: there is nothing to compare with.
	}
	log, err := m.local(
		ctx,
		staged,
		"log",
		"-z",
		"--no-decorate",
		"--format=%h %s",
		fmt.Sprintf("--max-count=%d", maxCommits),
		r.From+".."+r.To,
		"--",
	)
	if err != nil {
		return err
	}
	r.Commits = append(r.Commits, split(log)...)
	diff, err := m.local(ctx, staged, "diff", "--name-status", "--no-renames", "-z", r.From, r.To, "--")
	if err != nil {
		return err
	}
	fields := split(diff)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Files = append(r.Files, fields[i]+" "+fields[i+1])
	}
	return nil
}

// edits are the files that a user's changes make of the new ones, by path.
//
// Edits of plugin.yaml are merged. Edits of anything else would be lost, so they stop
// the update unless force is set.
func (c *change) edits(ctx context.Context, u *unit, staged string, force bool) (map[string][]byte, error) {
	if _, err := os.Stat(filepath.Join(u.Dir, ".git")); err != nil {
		return c.blindEdits(u, staged, force)
	}
	edited, err := c.m.edited(ctx, u.Dir)
	if err != nil {
		return nil, err
	}
	edits := map[string][]byte{}
	var lost []string
	for _, name := range edited {
		if filepath.Base(name) != manifestName {
			lost = append(lost, name)
			continue
		}
		text, err := c.merge(ctx, u.Dir, staged, name)
		if err != nil && force {
			text, err = keepSwitch(u.Dir, staged, filepath.Dir(name))
		}
		if err != nil {
			return nil, err
		}
		if text != nil {
			edits[name] = text
		}
	}
	if len(lost) > 0 && !force {
		return nil, fmt.Errorf(
			"these files were edited here: %s (undo that, or use --force to lose it)",
			strings.Join(lost, ", "),
		)
	}
	return edits, nil
}

// blindEdits does what can be done without git's knowledge of what was changed.
func (c *change) blindEdits(u *unit, staged string, force bool) (map[string][]byte, error) {
	if u.Entry != nil && !force {
		hash, err := hashTree(u.Dir)
		if err != nil {
			return nil, err
		}
		if hash != u.Entry.Hash {
			return nil, fmt.Errorf("files in %s were edited here (undo that, or use --force to lose it)", u.Dir)
		}
	}
	return switches(u, staged)
}

// switches are the plugin.yaml of the plugins that are disabled and stay so.
func switches(u *unit, staged string) (map[string][]byte, error) {
	edits := map[string][]byte{}
	for _, p := range u.Plugins {
		rel, err := filepath.Rel(u.Dir, p.Dir)
		if err != nil {
			return nil, err
		}
		text, err := keepSwitch(u.Dir, staged, rel)
		if err != nil {
			return nil, err
		}
		if text != nil {
			edits[filepath.ToSlash(filepath.Join(rel, manifestName))] = text
		}
	}
	return edits, nil
}

// carry applies the edits, and keeps files that are not from the repository. The
// plugins are checked again if that changed them.
func (c *change) carry(
	ctx context.Context,
	u *unit,
	staged, subpath string,
	plugins []plugin.Info,
	edits map[string][]byte,
) ([]plugin.Info, error) {
	for name, text := range edits {
		if err := os.WriteFile(filepath.Join(staged, filepath.FromSlash(name)), text, 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(u.Dir, ".git")); err == nil {
		if err := c.m.keepOthers(ctx, u.Dir, staged); err != nil {
			return nil, err
		}
	}
	if len(edits) == 0 {
		return plugins, nil
	}
	return c.m.check(ctx, filepath.Join(staged, filepath.FromSlash(subpath)), plugins)
}

// keepSwitch is the new plugin.yaml of a plugin that is disabled and stays so; nil
// if it is not.
func keepSwitch(from, to, rel string) ([]byte, error) {
	if off, err := isDisabled(filepath.Join(from, rel)); err != nil || !off {
		return nil, nil // What cannot be read cannot be kept.
	}
	text, err := readRecord(filepath.Join(to, rel, manifestName))
	if text == nil || err != nil {
		return nil, err // The plugin is gone.
	}
	return editDisabled(text, true)
}

// made reports whether a file is written by vendoring, or by us.
func made(name string) bool {
	base := filepath.Base(name)
	return base == "go.mod" || base == "go.sum" || base == originName ||
		slices.Contains(strings.Split(name, "/"), "vendor")
}

// edited lists the files of a clone that are not as they were committed.
func (m *Manager) edited(ctx context.Context, dir string) ([]string, error) {
	out, err := m.local(ctx, dir, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(split(out), made), nil
}

// damaged is edited without plugins that were only switched on or off.
func (m *Manager) damaged(ctx context.Context, dir string) ([]string, error) {
	edited, err := m.edited(ctx, dir)
	return slices.DeleteFunc(edited, func(name string) bool {
		if filepath.Base(name) != manifestName {
			return false
		}
		now, err := readRecord(filepath.Join(dir, filepath.FromSlash(name)))
		if now == nil || err != nil {
			return false
		}
		base, err := m.localBytes(ctx, dir, "show", "HEAD:"+name)
		skip := unhashed[manifestName]
		return err == nil && bytes.Equal(without(now, skip), without(base, skip))
	}), err
}

// keepOthers copies files that are not from the repository.
func (m *Manager) keepOthers(ctx context.Context, from, to string) error {
	out, err := m.local(ctx, from, "ls-files", "--others", "-z")
	if err != nil {
		return err
	}
	for _, name := range slices.DeleteFunc(split(out), made) {
		source, target := filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name))
		info, err := os.Lstat(source)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if _, err := os.Lstat(target); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return nil
}

// merge brings the edits of a file into its new version; nil if that has no such
// file. It is an error if both changed the same lines.
func (c *change) merge(ctx context.Context, from, to, name string) ([]byte, error) {
	target := filepath.Join(to, filepath.FromSlash(name))
	if _, err := os.Stat(target); err != nil {
		return nil, nil
	}
	mine, err := readRecord(filepath.Join(from, filepath.FromSlash(name)))
	if mine == nil || err != nil {
		return nil, err // A file that was deleted here comes back.
	}
	base, err := c.m.localBytes(ctx, from, "show", "HEAD:"+name)
	if err != nil {
		return nil, err
	}
	files := make([]string, 2)
	for i, text := range [][]byte{mine, base} {
		files[i] = filepath.Join(c.work, fmt.Sprintf("merge-%d", i))
		if err := os.WriteFile(files[i], text, 0o644); err != nil {
			return nil, err
		}
	}
	out, err := c.m.run(
		ctx,
		program{
			name: "git",
			args: []string{"merge-file", "-p", "--quiet", files[0], files[1], target},
			dir:  c.work,
			env:  quiet,
		},
	)
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code > 0 && exit.code < 128 {
		return nil, fmt.Errorf(
			"%s was edited here and changed there, in the same lines (--force takes the new one)",
			name,
		)
	}
	return out, err
}
