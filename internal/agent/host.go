package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// host is what the tools of a turn may ask of the agent. Its methods may be called by
// several goroutines.
type host struct{ t *turn }

// Run makes a tool call in the name of a tool, through the same gates as one of
// the model.
func (h *host) Run(ctx context.Context, name string, args map[string]any) (tool.Result, error) {
	a := h.t.a
	id := fmt.Sprintf("sub_%d", a.subcalls.Add(1))
	c := h.t.lookup(sdk.MessageToolCall{ID: id, Name: name, Arguments: args}, a.offered())
	c.nested = true
	h.t.runGroup(ctx, []*call{c})
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
func (h *host) Ask(ctx context.Context, q tool.Question) ([]string, error) {
	ask := h.t.a.opts.Ask
	if ask == nil {
		return nil, errors.New("nobody can be asked here: decide by yourself and say what you assumed")
	}
	return ask(ctx, q)
}

// Load offers deferred tools from the next request on.
func (h *host) Load(names []string) ([]string, error) {
	p := &h.t.a.profile
	var found []string
	var errs []error
	for _, pattern := range names {
		before := len(found)
		for t := range p.all() {
			// A pattern is about what can be loaded, a name about what shall be callable.
			if t.Name == pattern || tool.Match(pattern, t.Name) && p.deferred(t.Name) {
				found = append(found, t.Name)
			}
		}
		if len(found) == before {
			errs = append(errs, h.notDeferred(pattern))
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	h.t.a.conv.Offer.Load(slices.DeleteFunc(slices.Clone(found), func(n string) bool { return !p.deferred(n) })...)
	return found, errors.Join(errs...)
}

// notDeferred says why nothing can be loaded by a name.
func (h *host) notDeferred(name string) error {
	a := h.t.a
	if a.opts.Exists != nil && a.opts.Exists(name) {
		return errors.New(h.t.whyMissing(name))
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
var notDelegated = []string{"Task", "Ask", conversation.DoneTool, "TodoCreate", "TodoList", "TodoProgress"}

// Delegate lets a sub-agent work on a prompt. It has a conversation of its own but
// shares the pipeline, so every gate that holds here holds there.
func (h *host) Delegate(ctx context.Context, name, description, prompt string) (string, error) {
	a := h.t.a
	// A mode that is active holds for whoever works in it.
	mode, limits, now := a.profile.Mode, a.profile.Settings.Subagent, a.switches.Now()
	if name = cmp.Or(name, limits.Agent); name == "" {
		name, mode = a.profile.Agent, cmp.Or(mode, "none")
	}
	label := cmp.Or(description, name)
	// What bounds the session bounds what is done in its name.
	conv := conversation.New(nil, tool.Match)
	in, out := a.conv.Stats.Spent()
	conv.Stats.Spend(in, out)
	child, err := begin(Options{
		Pipeline: a.opts.Pipeline, Resolve: h.withheld(notDelegated), Agent: name, Mode: mode, Place: a.opts.Place,
		Switches: Choices{Auto: now.Auto, Think: now.Think, MaxSteps: cmp.Or(now.MaxSteps, limits.MaxSteps)},
		Exists:   a.opts.Exists, Approve: a.opts.Approve, Logger: a.opts.Logger,
		Observe: func(e Event) {
			e.Agent = cmp.Or(e.Agent, label)
			a.feed.send(e)
		},
	}, conv)
	if err != nil {
		return "", err
	}
	answer, err := child.Send(ctx, Input{Text: prompt})
	allIn, allOut := conv.Stats.Spent()
	a.conv.Stats.Spend(allIn-in, allOut-out)
	if err != nil {
		return answer, fmt.Errorf("sub-agent %s: %w", name, err)
	}
	if answer == "" {
		return "", fmt.Errorf("sub-agent %s gave no answer", name)
	}
	return answer, nil
}

// withheld resolves profiles without some tools, and without those that are disabled now.
func (h *host) withheld(names []string) func(agent, mode string) (Profile, error) {
	a, disabled := h.t.a, h.t.a.conv.Offer.Disabled()
	gone := func(t tool.Tool) bool {
		return slices.Contains(names, t.Name) ||
			slices.ContainsFunc(disabled, func(p string) bool { return tool.Match(p, t.Name) })
	}
	return func(agent, mode string) (Profile, error) {
		p, err := a.opts.Resolve(agent, mode)
		p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), gone)
		p.Deferred = slices.DeleteFunc(slices.Clone(p.Deferred), gone)
		return p, err
	}
}
