package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// plugin is one plugin that runs.
type plugin struct {
	name     string
	dir      string
	manifest manifest
	log      *slog.Logger
	program  program
	env      *environment
	taskEnv  func() map[string]string
	config   map[string]any
	copies   copies
	limit    time.Duration // Deadline of hooks, commands and small questions.
	sdk      string

	// The interpreter runs one select statement at a time: executing the same one twice
	// at once mixes up its cases. Where there is one, calls do not overlap.
	overlaps bool

	control
	pluginExports
}

// control is how calls get into a plugin, and how it ends.
type control struct {
	gate  gate
	work  sync.Once
	jobs  chan *job
	off   atomic.Pointer[string] // Why it may not be called any more.
	dead  chan struct{}          // Closed when it is stopped.
	end   sync.Once
	onOff func(plugin string)
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
			p.close()
			p = nil
		}
	}()
	when, err := c.manifest.expr()
	if err != nil {
		return nil, err
	}
	eng, err := engineFor(c.manifest.Engine)
	if err != nil {
		return nil, err
	}
	src, err := readSource(c.dir, o.Unsafe)
	if err != nil {
		return nil, err
	}
	p = &plugin{
		name: c.name, dir: c.dir, manifest: c.manifest, log: o.Logger, taskEnv: o.TaskEnv, control: control{onOff: o.Off, dead: make(chan struct{})},
		config: mergeConfig(c.manifest.Config, o.Global, localConfig(o.Local, c.name)), copies: copiesFor(src),
		limit: c.manifest.timeout(), overlaps: !src.selects,
	}
	if p.sdk, err = checkSDK(c.dir); err != nil {
		return p, err
	}
	var environ []string
	if o.Environ != nil && len(c.manifest.Env) > 0 {
		environ = o.Environ()
	}
	p.env = newEnvironment(c.manifest.Env, environ)
	ctx, cancel := context.WithTimeout(ctx, HookTimeout)
	defer cancel()
	p.program, err = eng.load(ctx, src, world{name: p.name, env: p.env, output: logWriter{o.Logger, p.name}, unsafe: o.Unsafe})
	if err != nil {
		return p, err
	}
	return p, p.bind(ctx, when, o)
}

// bind finds the functions that the plugin exports and gives them their places.
func (p *plugin) bind(ctx context.Context, when *condition.Expr, o Options) error {
	err := errors.Join(p.bindHooks(when), p.bindTool(ctx, o), p.bindCommand(ctx))
	if err != nil {
		return err
	}
	if len(p.bindings) == 0 && p.tool == nil && p.command == nil && p.program.lookup("Schema") == nil {
		var names []string
		for _, h := range hookSpecs() {
			names = append(names, h.function())
		}
		return fmt.Errorf("exports no hook, tool or command (expected at least one of %s, Schema with Execute, or Command with ExecuteCommand)",
			strings.Join(names, ", "))
	}
	return nil
}

// describe completes what a listing shows.
func (p *plugin) describe(i *Info) {
	i.SDK = p.sdk
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

// close ends the plugin.
func (p *plugin) close() { p.stop(released) }

// stop makes the plugin unusable, with the reason, and ends what runs in it.
func (p *plugin) stop(why string) {
	p.end.Do(func() {
		p.off.Store(&why)
		close(p.dead)
		if p.program != nil {
			p.program.kill()
		}
		if p.onOff != nil && why != released {
			p.onOff(p.name)
		}
	})
}

// released is why a plugin that was closed cannot be called.
const released = "it was released"

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
