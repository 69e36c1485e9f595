package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin/manifest"
	"github.com/idelchi/aura/internal/tool"
)

// plugin is one plugin that runs.
type plugin struct {
	name     string
	dir      string
	manifest manifest.Manifest
	log      *slog.Logger
	program  program
	env      *environment
	taskEnv  func() map[string]string
	config   map[string]any
	traits
	limit time.Duration // Deadline of hooks, commands and small questions.
	sdk   string

	guard *foreign.Guard
	gate  gate
	renew func() error // Puts a new process in place, the first time; nil: not needed.

	pluginExports
}

// pluginExports is what a plugin brings.
type pluginExports struct {
	bindings []lifecycle.Binding
	tool     *tool.Tool
	command  *tool.Command
	warnings []string
}

// start loads a plugin and binds what it exports. A panic in the interpreter is an
// error of the plugin.
func start(ctx context.Context, c *candidate, o Options) (p *plugin, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic while loading: %v", v)
		}
		if err != nil && p != nil {
			p.guard.Release()
			p = nil
		}
	}()
	var when lifecycle.Condition // Stays nil, not a nil *Expr, where there is none.
	if expr, err := c.manifest.When(); err != nil {
		return nil, err
	} else if expr != nil {
		when = expr
	}
	p = &plugin{
		name:     c.name,
		dir:      c.dir,
		manifest: c.manifest,
		log:      o.Logger,
		taskEnv:  o.TaskEnv,
		config:   mergeConfig(c.manifest.Config, o.Global, localConfig(o.Local, c.name)),
		limit:    cmp.Or(max(c.manifest.Timeout, 0), HookTimeout),
	}
	p.guard = foreign.NewGuard(fmt.Sprintf("plugin %q", p.name), func(string) {
		if p.program != nil {
			p.program.kill()
		}
	})
	if p.sdk, err = checkSDK(c.dir); err != nil {
		return p, err
	}
	var environ []string
	if o.Environ != nil && len(c.manifest.Env) > 0 {
		environ = o.Environ()
	}
	p.env = newEnvironment(c.manifest.Env, environ)
	loaded, err := engineFor(c.manifest.Engine).load(ctx, world{
		name: p.name, dir: c.dir, env: p.env, output: logWriter{o.Logger, p.name}, unsafe: o.Unsafe,
		workdir: o.Native.Workdir, cache: o.Native.Cache, log: o.Logger, tell: o.Warn,
	})
	if err != nil {
		return p, err
	}
	p.program, p.traits = loaded, loaded.traits()
	if err := p.bind(ctx, when, o); err != nil {
		return p, err
	}
	p.attend(o)
	return p, nil
}

// bind finds the functions that the plugin exports and gives them their places.
func (p *plugin) bind(ctx context.Context, when lifecycle.Condition, o Options) error {
	err := errors.Join(p.bindHooks(when), p.bindTool(ctx, o), p.bindCommand(ctx))
	if err != nil {
		return err
	}
	if len(p.bindings) == 0 && p.tool == nil && p.command == nil && p.program.lookup("Schema") == nil {
		var names []string
		for _, row := range lifecycle.Moments() {
			names = append(names, row.Function)
		}
		return fmt.Errorf(
			"exports no hook, tool or command (expected at least one of %s, Schema with Execute, or Command "+
				"with ExecuteCommand)",
			strings.Join(names, ", "),
		)
	}
	return nil
}

// attend watches over a program that has a process of its own: if that ends, the
// plugin is switched off, since its variables are gone.
func (p *plugin) attend(o Options) {
	c, ok := p.program.(*compiled)
	if !ok {
		return
	}
	if o.Native.Confining {
		p.renew = sync.OnceValue(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), HookTimeout)
			defer cancel()
			if err := c.renew(ctx); err != nil {
				return err
			}
			if f, ok := c.lookup("Init").(initFunc); ok {
				f(o.Tool)
			}
			return nil
		})
		return
	}
	go func() {
		heard, err := c.current().Wait()
		if p.guard.SwitchOff(err.Error()) && !heard {
			o.Warn(fmt.Sprintf("warning: plugin %s: %v; it is switched off until /reload", p.name, err))
		}
	}()
}

// describe completes what a listing shows.
func (p *plugin) describe(i *Info) {
	i.SDK, i.Engine = p.sdk, p.engine
	for _, b := range p.bindings {
		row, _ := lifecycle.Describe(b.Moment)
		i.Hooks = append(i.Hooks, row.Function)
	}
	if p.tool != nil {
		i.Tool = p.tool.Name
	}
	if p.command != nil {
		i.Command = p.command.Name
	}
}

// mergeConfig lays config values over each other, key by key; the last wins.
func mergeConfig(layers ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		maps.Copy(out, layer)
	}
	return out
}

// localConfig finds the values for a plugin; its name is not case-sensitive.
func localConfig(local map[string]map[string]any, name string) map[string]any {
	if values, ok := local[name]; ok {
		return values
	}
	for key, values := range local {
		if strings.EqualFold(key, name) {
			return values
		}
	}
	return nil
}
