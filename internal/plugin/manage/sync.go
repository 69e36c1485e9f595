package manage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// SyncOptions say how to make a home match its lock file.
type SyncOptions struct {
	Force bool // Replace what was edited by hand.
	Prune bool // Remove what came from git and is not in the lock file.
}

// Synced is what Sync did with one installation.
type Synced struct {
	Name   string `json:"name"` // Path below the plugins directory.
	Action string `json:"action"`
}

// What Sync does.
const (
	SyncKept      = "unchanged"
	SyncInstalled = "installed"
	SyncReplaced  = "replaced"
	SyncRemoved   = "removed"
	SyncExtra     = "not in plugins.lock"
)

// Sync makes the plugins of the home that is written to what its lock file says.
// What fails stays as it was; the rest is done all the same.
func (m *Manager) Sync(ctx context.Context, o SyncOptions) ([]Synced, error) {
	home, err := m.home()
	if err != nil {
		return nil, err
	}
	c, err := m.begin(ctx, home)
	if err != nil {
		return nil, err
	}
	defer c.end()
	units, err := m.units(ctx, home)
	if err != nil {
		return nil, err
	}
	var list []Synced
	var errs []error
	for _, rel := range slices.Sorted(maps.Keys(c.lock.Plugins)) {
		i := slices.IndexFunc(units, func(u *unit) bool { return u.Rel == rel })
		var have *unit
		if i >= 0 {
			have = units[i]
		}
		action, err := c.sync(ctx, rel, have, o)
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", rel, err))
			continue
		}
		list = append(list, Synced{rel, action})
	}
	for _, u := range units {
		if u.Entry != nil || u.Origin == nil {
			continue
		}
		action := SyncExtra
		if o.Prune {
			action = SyncRemoved
			errs = append(errs, c.remove(u.Rel))
		}
		list = append(list, Synced{u.Rel, action})
	}
	return list, errors.Join(errs...)
}

// sync makes one installation what the lock file says.
func (c *change) sync(ctx context.Context, rel string, have *unit, o SyncOptions) (string, error) {
	want := *c.lock.Plugins[rel]
	target := filepath.Join(c.root, filepath.FromSlash(rel))
	action := SyncInstalled
	if _, err := os.Lstat(target); err == nil {
		hash, err := hashTree(target)
		if err != nil {
			return "", err
		}
		if hash == want.Hash {
			return SyncKept, nil
		}
		action = SyncReplaced
	}
	if want.URL == "" {
		return "", errors.New(
			"it was copied from a directory, so it cannot be fetched again (add it once more, or remove it)",
		)
	}
	from, err := parsePlace(want.URL, "")
	if err != nil {
		return "", err
	}
	staged, err := c.stage(path.Base(rel))
	if err != nil {
		return "", err
	}
	c.m.say("fetching %s at %s", want.URL, short(want.Commit))
	r, _, err := c.m.reach(ctx, from, "")
	if err != nil {
		return "", err
	}
	commit, err := r.fetch(ctx, staged, revision{want.Commit, want.Commit}, "")
	if err != nil {
		return "", err
	}
	if err := checkTree(staged); err != nil {
		return "", err
	}
	if action == SyncReplaced {
		if err := c.spare(ctx, target, have, o.Force); err != nil {
			return "", err
		}
	}
	entry := want
	entry.Commit = commit
	if _, err := c.finish(ctx, staged, rel, &entry); err != nil {
		return "", err
	}
	if entry.Hash != want.Hash {
		return "", fmt.Errorf(
			"commit %s has another content than %s says (%s, want %s): if that is right, run \"aura plugins update\"",
			short(commit),
			lockName,
			entry.Hash,
			want.Hash,
		)
	}
	if have != nil {
		edits, err := switches(have, staged)
		if err != nil {
			return "", err
		}
		for name, text := range edits {
			if err := os.WriteFile(filepath.Join(staged, filepath.FromSlash(name)), text, 0o644); err != nil {
				return "", err
			}
		}
	}
	return action, c.install(staged, rel, &entry)
}

// spare keeps a directory from being replaced if a user's work would be lost.
func (c *change) spare(ctx context.Context, target string, have *unit, force bool) error {
	if force {
		return nil
	}
	if have == nil || have.Origin == nil {
		return errors.New("there is something else in its place (move it away, or use --force to lose it)")
	}
	if _, err := os.Stat(filepath.Join(target, ".git")); err != nil {
		return nil
	}
	edited, err := c.m.damaged(ctx, target)
	if err != nil || len(edited) == 0 {
		return err
	}
	return fmt.Errorf(
		"these files were edited here: %s (undo that, or use --force to lose it)",
		strings.Join(edited, ", "),
	)
}

// Difference is something that is not as it was installed.
type Difference struct {
	Name string `json:"name"` // Path below the plugins directory.
	Home string `json:"home"`
	What string `json:"what"`
}

// Verify compares what is installed in all homes with the lock files. The second
// result is the number of installations that were compared.
func (m *Manager) Verify(ctx context.Context) ([]Difference, int, error) {
	list := []Difference{}
	count := 0
	for _, home := range m.o.Homes {
		lock, err := readLock(home.Dir)
		if err != nil {
			return nil, 0, err
		}
		for _, rel := range slices.Sorted(maps.Keys(lock.Plugins)) {
			count++
			what, err := m.verify(ctx, filepath.Join(home.Plugins, filepath.FromSlash(rel)), lock.Plugins[rel])
			if err != nil {
				return nil, 0, err
			}
			for _, w := range what {
				list = append(list, Difference{rel, home.Dir, w})
			}
		}
		units, err := m.units(ctx, home)
		if err != nil {
			return nil, 0, err
		}
		for _, u := range units {
			if u.Origin != nil && u.Entry == nil {
				list = append(
					list,
					Difference{u.Rel, home.Dir, "installed from " + u.Origin.String() + ", but not in " + lockName},
				)
			}
		}
	}
	return list, count, nil
}

// verify compares one installation with its entry.
func (m *Manager) verify(ctx context.Context, dir string, want *Entry) ([]string, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return []string{"missing (run \"aura plugins sync\")"}, nil
	}
	var what []string
	origin, err := readOrigin(dir)
	if err != nil {
		return nil, err
	}
	wanted := want.origin()
	switch {
	case wanted == nil && origin != nil:
		what = append(what, "it has an origin, but "+lockName+" says that it was copied")
	case wanted != nil && origin == nil:
		what = append(what, "its "+originName+" is gone")
	case wanted != nil && origin.Commit != wanted.Commit:
		what = append(
			what,
			fmt.Sprintf("it is commit %s, but %s says %s", short(origin.Commit), lockName, short(wanted.Commit)),
		)
	case wanted != nil && *origin != *wanted:
		what = append(what, fmt.Sprintf("its %s says %s, but %s says %s", originName, origin, lockName, wanted))
	}
	hash, err := hashTree(dir)
	if err != nil {
		return nil, err
	}
	if hash == want.Hash || len(what) > 0 {
		return what, nil
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		edited, err := m.damaged(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, name := range edited {
			what = append(what, "edited: "+name)
		}
		others, err := m.local(ctx, dir, "ls-files", "--others", "-z")
		if err != nil {
			return nil, err
		}
		for _, name := range slices.DeleteFunc(split(others), made) {
			what = append(what, "added: "+name)
		}
	}
	if len(what) == 0 {
		what = append(what, fmt.Sprintf("its content differs (%s, want %s)", hash, want.Hash))
	}
	return what, nil
}
