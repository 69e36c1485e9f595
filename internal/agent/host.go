package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// Run makes a tool call in the name of a tool, through the same gates as one of
// the model. It may be called by several goroutines.
func (a *Agent) Run(ctx context.Context, name string, args map[string]any) (tool.Result, error) {
	c := a.lookup(
		sdk.MessageToolCall{ID: fmt.Sprintf("sub_%d", a.subcalls.Add(1)), Name: name, Arguments: args},
		a.available(),
	)
	c.nested = true
	a.runGroup(ctx, []*call{c})
	switch {
	case c.err == nil:
		c.result.Text = c.text()
	case c.replaced != nil:
		c.result.Text = *c.replaced
		c.err = errors.New(c.text())
	case len(c.feedback) > 0:
		c.err = fmt.Errorf("%w\n\n%s", c.err, strings.Join(c.feedback, "\n"))
	}
	return c.result, c.err
}

// Ask puts a question of the model to the user.
func (a *Agent) Ask(ctx context.Context, q tool.Question) ([]string, error) {
	if a.opts.Ask == nil {
		return nil, errors.New("nobody can be asked here: decide by yourself and say what you assumed")
	}
	return a.opts.Ask(ctx, q)
}

// Load offers deferred tools from the next request on. It may be called by several
// goroutines.
func (a *Agent) Load(names []string) ([]string, error) {
	var found []string
	var errs []error
	for _, pattern := range names {
		before := len(found)
		for _, list := range [][]tool.Tool{a.profile.Tools, a.profile.Deferred} {
			for _, t := range list {
				// A pattern is about what can be loaded, a name about what shall be callable.
				if t.Name == pattern || tool.Match(pattern, t.Name) && a.profile.deferred(t.Name) {
					found = append(found, t.Name)
				}
			}
		}
		if len(found) == before {
			errs = append(errs, a.notDeferred(pattern))
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	a.mu.Lock()
	defer a.mu.Unlock()
	loaded := slices.Clone(a.loaded) // Snapshots share the old one.
	for _, name := range found {
		if a.profile.deferred(name) && !slices.Contains(loaded, name) {
			loaded = append(loaded, name)
		}
	}
	a.loaded = loaded
	return found, errors.Join(errs...)
}

// notDeferred says why nothing can be loaded by a name.
func (a *Agent) notDeferred(name string) error {
	if a.opts.Exists != nil && a.opts.Exists(name) {
		return errors.New(a.whyMissing(name))
	}
	var names []string
	for _, t := range a.profile.Deferred {
		names = append(names, t.Name)
	}
	return fmt.Errorf("no tool %q can be loaded%s", name, wording.Suggest(name, names))
}

// notDelegated are the tools that a sub-agent does without: one that delegates
// again would never end, the user and the todo list belong to the agent that
// was asked, and an answer ends the work anyway.
var notDelegated = []string{"Task", "Ask", doneTool, "TodoCreate", "TodoList", "TodoProgress"}

// Delegate lets a sub-agent work on a prompt. It has a conversation of its own but
// shares the pipeline, so every gate that holds here holds there.
func (a *Agent) Delegate(ctx context.Context, name, description, prompt string) (string, error) {
	a.mu.Lock()
	disabled := a.turn.disabled
	in, out := a.stats.in, a.stats.out
	a.mu.Unlock()
	resolve := func(agent, mode string) (Profile, error) {
		p, err := a.opts.Resolve(agent, mode)
		withheld := func(t tool.Tool) bool {
			return slices.Contains(notDelegated, t.Name) ||
				slices.ContainsFunc(disabled, func(p string) bool { return tool.Match(p, t.Name) })
		}
		p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), withheld)
		p.Deferred = slices.DeleteFunc(slices.Clone(p.Deferred), withheld)
		return p, err
	}
	// A mode that is active holds for whoever works in it.
	mode, limits := a.profile.Mode, a.profile.Settings.Subagent
	if name == "" {
		name = limits.Agent
	}
	if name == "" {
		name, mode = a.profile.Agent, cmpOr(mode, "none")
	}
	label := cmpOr(description, name)
	child, err := New(Options{
		Pipeline: a.opts.Pipeline, Resolve: resolve, Agent: name, Mode: mode, Auto: a.state.auto, Think: a.state.think,
		Place: a.opts.Place, Exists: a.opts.Exists, Approve: a.opts.Approve, Logger: a.opts.Logger,
		Observe: func(e Event) {
			if e.Agent == "" {
				e.Agent = label
			}
			a.emit(e)
		},
	})
	if err != nil {
		return "", err
	}
	// What bounds the session bounds what is done in its name.
	child.SetMaxSteps(cmp.Or(a.state.steps, limits.MaxSteps))
	child.stats.in, child.stats.out = in, out
	answer, err := child.Send(ctx, Input{Text: prompt})
	a.spend(provider.Usage{Input: child.stats.in - in, Output: child.stats.out - out})
	if err != nil {
		return answer, fmt.Errorf("sub-agent %s: %w", name, err)
	}
	if answer == "" {
		return "", fmt.Errorf("sub-agent %s gave no answer", name)
	}
	return answer, nil
}

// asProviderError finds the provider's error in err.
func asProviderError(err error) (*provider.Error, bool) { return errors.AsType[*provider.Error](err) }

// LastAnswer returns the latest text of the model.
func (a *Agent) LastAnswer() string {
	for _, m := range slices.Backward(a.hist.msgs) {
		if m.Role == message.Assistant && m.Plain() {
			return m.Content
		}
	}
	return ""
}
