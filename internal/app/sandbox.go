package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
)

// confinement is the sandbox of a session: what is asked for, and the processes
// that run tools under it. It is guarded by App.mu.
type confinement struct {
	override *bool                      // /sandbox; nil leaves it to the configuration.
	workers  map[string]*sandbox.Worker // By rules.
	warned   bool
}

// sandboxRules are the rules that the configuration gives an agent; nil while the
// sandbox is off.
func (a *App) sandboxRules(f config.Sandbox) *sandbox.Rules {
	on := f.Enabled
	if a.confined.override != nil {
		on = *a.confined.override
	}
	if !on {
		return nil
	}
	r := sandbox.Default(a.workdir)
	if len(f.Restrictions.RO) > 0 {
		r.RO = f.Restrictions.RO
	}
	if len(f.Restrictions.RW) > 0 {
		r.RW = f.Restrictions.RW
	}
	r.RO = append(r.RO, f.Extra.RO...)
	r.RW = append(r.RW, f.Extra.RW...)
	r.NoNetwork = f.Network == "deny"
	r = r.Resolve(a.workdir)
	return &r
}

// confine makes a tool run in the sandboxed child where the rules and the kernel
// say so.
func (a *App) confine(t tool.Tool, r *sandbox.Rules) tool.Tool {
	if r == nil || t.InProcess || a.opts.Confined || len(a.opts.Reexec) == 0 || sandbox.Supported() != nil {
		return t
	}
	t.Execute = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		result, err := a.worker(*r).Run(ctx, t.Name, call)
		if setup, ok := errors.AsType[*sandbox.SetupError](err); ok {
			// The user must know; the model can do nothing about it.
			a.agent.Notice("sandbox", setup.Error())
			return tool.Result{}, errors.New("the sandbox does not work; the user has been told")
		}
		return result, err
	}
	return t
}

// worker returns the confined process for a set of rules.
func (a *App) worker(r sandbox.Rules) *sandbox.Worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.confined.workers[r.String()]
	if !ok {
		w = sandbox.NewWorker(sandbox.WorkerOptions{
			Command: a.opts.Reexec, Rules: r, Env: a.env.list(), Logger: a.log,
		})
		if a.confined.workers == nil {
			a.confined.workers = map[string]*sandbox.Worker{}
		}
		a.confined.workers[r.String()] = w
	}
	return w
}

// closeWorkers ends the confined processes.
func (a *App) closeWorkers() {
	a.mu.Lock()
	workers := a.confined.workers
	a.confined.workers = nil
	a.mu.Unlock()
	for _, w := range workers {
		w.Close()
	}
}

// sandboxState tells prompts and snapshots about the sandbox of the active agent.
func (a *App) sandboxState() agent.SandboxState {
	if a.agent == nil {
		return agent.SandboxState{}
	}
	r := a.activeRules()
	if r == nil {
		return agent.SandboxState{Display: "off"}
	}
	s := agent.SandboxState{Enabled: true, Enforced: true, Display: r.String()}
	if err := sandbox.Supported(); err != nil {
		s.Enforced, s.Display = false, fmt.Sprintf("%s (not enforced: %v)", r, err)
	}
	return s
}

// activeRules are those of the active agent; nil while the sandbox is off.
func (a *App) activeRules() *sandbox.Rules {
	p := a.agent.Profile()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cache[[2]string{p.Agent, p.Mode}].sandbox
}

// setSandbox switches the sandbox on or off for the session.
func (a *App) setSandbox(on bool) error {
	a.mu.Lock()
	a.confined.override = &on
	a.mu.Unlock()
	return a.agent.Reload()
}

// warnSandbox tells the user once if what they asked for cannot be enforced, and
// what of it is not there.
func (a *App) warnSandbox() {
	if s := a.sandboxState(); s.Enabled && !s.Enforced && !a.confined.warned {
		a.confined.warned = true
		a.agent.Notice("sandbox", s.Display)
	}
	r := a.activeRules()
	if r == nil {
		return
	}
	for _, path := range r.Missing {
		a.agent.Notice("sandbox", sandbox.MissingText(path)+" (create it, then /reload)")
	}
}

// ServeConfined is the life of a sandboxed child: it runs the tools its parent asks
// for, under the rules its parent set, until its input ends.
func (a *App) ServeConfined(ctx context.Context, in io.Reader, out io.Writer) error {
	r, ok := sandbox.Requested()
	if !ok {
		return errors.New("--worker is for sandboxed processes that aura starts by itself")
	}
	return sandbox.Serve(ctx, in, out, r, a.tool)
}
