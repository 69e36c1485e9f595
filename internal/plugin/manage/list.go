package manage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/plugin"
)

// Plugin describes an installed plugin for a user or, as JSON, for a program.
type Plugin struct {
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	Description string   `json:"description"`
	Condition   string   `json:"condition"`
	Once        bool     `json:"once"`
	Hooks       []string `json:"hooks"`
	Tool        string   `json:"tool,omitempty"`
	Command     string   `json:"command,omitempty"`
	Dir         string   `json:"dir"`
	Global      bool     `json:"global"`         // It is in the global home.
	Pack        string   `json:"pack,omitempty"` // Name of the pack that it belongs to.
	Origin      *Origin  `json:"origin,omitempty"`
	SDK         *SDK     `json:"sdk,omitempty"`
	Files       []string `json:"files,omitempty"` // Only Show fills it in.
	Error       string   `json:"error,omitempty"` // Why it could not be loaded.
}

// SDK is the SDK that a plugin has vendored.
type SDK struct {
	Version    string `json:"version"`
	Compatible bool   `json:"compatible"`
}

// Capabilities are the hooks, the tool and the command, as lists show them.
func (p *Plugin) Capabilities() []string {
	list := slices.Clone(p.Hooks)
	if p.Tool != "" {
		list = append(list, "tool:"+p.Tool)
	}
	if p.Command != "" {
		list = append(list, "cmd:/"+p.Command)
	}
	return list
}

// List describes all plugins of all homes in the order in which they run. Each is
// loaded to see what it can do; one that cannot be loaded is listed with its error.
func (m *Manager) List(ctx context.Context) ([]Plugin, error) {
	var dirs []string
	for _, home := range m.o.Homes {
		dirs = append(dirs, home.Plugins)
	}
	infos, err := m.load(ctx, plugin.Options{Dirs: dirs, Include: m.o.Include, Exclude: m.o.Exclude})
	if err != nil {
		return nil, err
	}
	list := []Plugin{}
	for _, home := range m.o.Homes {
		lock, err := readLock(home.Dir)
		if err != nil {
			return nil, err
		}
		here := slices.DeleteFunc(slices.Clone(infos), func(i plugin.Info) bool { return i.Root != home.Plugins })
		units, err := group(home, lock, here)
		if err != nil {
			return nil, err
		}
		for _, u := range units {
			u.scope()
			for _, i := range u.Plugins {
				list = append(list, describe(u, i, home.Global))
			}
		}
	}
	return list, nil
}

func describe(u *unit, i plugin.Info, global bool) Plugin {
	p := Plugin{
		Name:        i.Name,
		Status:      string(i.Status),
		Description: i.Description,
		Condition:   i.Condition,
		Once:        i.Once,
		Hooks: append(
			[]string{},
			i.Hooks...),
		Tool:    i.Tool,
		Command: i.Command,
		Dir:     i.Dir,
		Global:  global,
		Origin:  u.Origin,
	}
	if i.Status == plugin.Failed {
		p.Status = string(plugin.Enabled) // What the user decided; the error says what became of it.
	}
	if i.Err != nil {
		p.Error = i.Err.Error()
	}
	if u.Dir != i.Dir {
		p.Pack = u.Name()
	}
	if v, err := plugin.SDKVersion(i.Dir); err == nil && v != "" {
		p.SDK = &SDK{Version: v, Compatible: plugin.Compatible(v, plugin.HostSDK) == nil}
	}
	return p
}

// Show describes one plugin in full.
func (m *Manager) Show(ctx context.Context, name string) (*Plugin, error) {
	list, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	var known, members []string
	for _, p := range slices.Backward(list) {
		known = append(known, p.Name)
		if strings.EqualFold(p.Pack, name) {
			members = append(members, p.Name)
		}
		if !strings.EqualFold(p.Name, name) {
			continue
		}
		if p.Files, err = files(p.Dir); err != nil {
			return nil, err
		}
		return &p, nil
	}
	if len(members) > 0 {
		slices.Sort(members)
		return nil, fmt.Errorf("%q is a pack; show one of its plugins: %s", name, strings.Join(members, ", "))
	}
	return nil, unknown(name, known)
}

// maxFiles bounds the files that are listed.
const maxFiles = 1000

// files lists the files of a plugin. Vendored code and hidden files are left out.
func files(dir string) ([]string, error) {
	list := []string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrPermission):
			return nil
		case err != nil:
			return err
		case file == dir:
			return nil
		case d.IsDir() && (d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		case len(list) == maxFiles:
			return fs.SkipAll
		}
		rel, err := filepath.Rel(dir, file)
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	return list, err
}
