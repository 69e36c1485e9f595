// Package guard holds the built-in gates in front of tools: tool policy and
// read-before-write. They are handlers like any other and run last, so they judge
// the call that will really be made. What is checked against a tool's schema is
// checked by the agent after every change of the arguments.
package guard

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Options configures the guards. All fields are required.
type Options struct {
	Tool      func(name string) (tool.Tool, bool)      // Every tool there is.
	For       func(agent, mode string) (Config, error) // What holds for an agent in a mode.
	Reads     *Reads                                   // What the model has seen.
	Approvals *Approvals                               // What the user has allowed.
}

// Config is what the guards hold an agent to. A guard that cannot get it refuses.
type Config struct {
	Rules      Rules
	ReadBefore ReadBefore
}

// Bindings returns the guards in the order in which they run.
func Bindings(o Options) []lifecycle.Binding {
	bind := func(name string, m lifecycle.Moment, f lifecycle.HandlerFunc) lifecycle.Binding {
		return lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Guard, Name: name}, Moment: m,
			OnFailure: lifecycle.Deny, // A gate that fails is closed.
			Handler:   f,
		}
	}
	return []lifecycle.Binding{
		bind("read-before-write", lifecycle.BeforeToolExecution, o.checkReads),
		bind("policy", lifecycle.BeforeToolExecution, o.checkPolicy),
		bind("read-before-write", lifecycle.AfterToolExecution, o.recordReads),
	}
}

// paths returns what a call declares to do to files, as absolute paths.
func (o *Options) paths(name string, args map[string]any, workdir string) (tool.Paths, error) {
	t, ok := o.Tool(name)
	if !ok || t.Paths == nil {
		return tool.Paths{}, nil
	}
	p, err := t.Paths(args)
	if err != nil {
		return p, err
	}
	for _, list := range []*[]string{&p.Read, &p.Write, &p.Record, &p.Guard, &p.Clear} {
		abs := make([]string, len(*list))
		for i, path := range *list {
			abs[i] = absolute(path, workdir)
		}
		*list = abs
	}
	return p, nil
}

// absolute resolves a path against the working directory.
func absolute(path, workdir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(workdir, path)
	}
	return filepath.Clean(path)
}

// refuse is the reply of a gate that does not let a call through.
func refuse(reason ...string) (lifecycle.Reply, error) {
	return lifecycle.Reply{Block: true, Reason: strings.Join(reason, "")}, nil
}

var pass lifecycle.Reply

// checkReads refuses to overwrite files whose content the model has not seen. A call
// that cannot say what it does to files is refused in any case.
func (o Options) checkReads(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	d := ev.BeforeTool()
	c, err := o.For(d.Agent, d.Mode)
	if err != nil {
		return pass, err
	}
	p, err := o.paths(d.ToolName, d.Arguments, d.Workdir)
	if err != nil {
		return refuse(err.Error())
	}
	rule := c.ReadBefore
	if rule.Write {
		for _, path := range p.Guard {
			if why := o.Reads.Stale(path); why != "" {
				return refuse(path, " ", why, ": Read it before changing it")
			}
		}
	}
	if rule.Delete {
		for _, path := range p.Clear {
			if why := o.Reads.Stale(path); why != "" {
				return refuse(path, " ", why, ": Read it before deleting it")
			}
		}
	}
	return pass, nil
}

// recordReads notes what a successful call has shown to the model.
func (o Options) recordReads(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	d := ev.AfterTool()
	if d.ToolError != "" {
		return pass, nil
	}
	p, err := o.paths(d.ToolName, d.Arguments, d.Workdir)
	if err != nil {
		return pass, err
	}
	for _, path := range p.Clear {
		o.Reads.Clear(path)
	}
	for _, path := range p.Record { // Also what was deleted and made anew.
		o.Reads.Record(path)
	}
	return pass, nil
}
