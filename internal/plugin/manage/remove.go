package manage

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Removed is what was removed.
type Removed struct {
	Name    string
	Dir     string
	Plugins []string
}

// Remove removes a plugin, or a pack with all its plugins. One plugin of a pack
// cannot be removed.
func (m *Manager) Remove(ctx context.Context, name string) (*Removed, error) {
	u, one, err := m.find(ctx, name)
	if err != nil {
		if r := m.forget(ctx, name); r != nil {
			return r, nil
		}
		return nil, err
	}
	if one != nil && u.pack(*one) {
		return nil, fmt.Errorf(
			"plugin %q is part of the pack %q and cannot be removed alone (\"aura plugins disable %s\" writes "+
				"\"disabled: true\" into its plugin.yaml; \"aura plugins remove %s\" removes the whole pack)",
			one.Name,
			u.Name(),
			one.Name,
			u.Name(),
		)
	}
	c, err := m.begin(ctx, u.Home)
	if err != nil {
		return nil, err
	}
	defer c.end()
	r := &Removed{Name: u.Name(), Dir: u.Dir}
	for _, p := range u.Plugins {
		r.Plugins = append(r.Plugins, p.Name)
	}
	return r, c.remove(u.Rel)
}

// forget removes the record of an installation whose directory is gone; nil if
// there is none with this name.
func (m *Manager) forget(ctx context.Context, name string) *Removed {
	for _, home := range slices.Backward(m.o.Homes) {
		lock, err := readLock(home.Dir)
		if err != nil || len(lock.Plugins) == 0 {
			continue
		}
		for rel := range lock.Plugins {
			dir := filepath.Join(home.Plugins, filepath.FromSlash(rel))
			if _, err := os.Lstat(dir); !strings.EqualFold(path.Base(rel), name) || err == nil {
				continue
			}
			c, err := m.begin(ctx, home)
			if err != nil {
				return nil
			}
			defer c.end()
			if c.record(rel, nil) == nil {
				return &Removed{Name: path.Base(rel), Dir: dir}
			}
		}
	}
	return nil
}
