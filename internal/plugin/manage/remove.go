package manage

import (
	"context"
	"fmt"
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
		return nil, err
	}
	if one != nil && u.pack(*one) {
		return nil, fmt.Errorf("plugin %q is part of the pack %q and cannot be removed alone (\"aura plugins disable %s\" writes \"disabled: true\" into its plugin.yaml; \"aura plugins remove %s\" removes the whole pack)",
			one.Name, u.Name(), one.Name, u.Name())
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
