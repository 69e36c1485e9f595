package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Run makes a tool call in the name of a tool, through the same gates as one of
// the model. It may be called by several goroutines.
func (a *Agent) Run(ctx context.Context, name string, args map[string]any) (tool.Result, error) {
	c := a.lookup(sdk.MessageToolCall{ID: fmt.Sprintf("sub_%d", a.subcalls.Add(1)), Name: name, Arguments: args})
	a.runGroup(ctx, []*call{c})
	return c.result, c.err
}

// Ask puts a question of the model to the person.
func (a *Agent) Ask(ctx context.Context, q tool.Question) ([]string, error) {
	if a.opts.Ask == nil {
		return nil, errors.New("nobody can be asked here: decide by yourself and say what you assumed")
	}
	return a.opts.Ask(ctx, q)
}

// Delegate lets a sub-agent work on a prompt. It has a conversation of its own but
// shares the pipeline, so every gate that holds here holds there.
func (a *Agent) Delegate(ctx context.Context, name, description, prompt string) (string, error) {
	resolve := func(agent, mode string) (Profile, error) {
		p, err := a.opts.Resolve(agent, mode)
		// A sub-agent that delegates again would never end.
		p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Tool) bool { return t.Name == "Task" || t.Name == "Ask" || t.Name == doneTool })
		return p, err
	}
	mode := ""
	if name == "" {
		name, mode = a.profile.Agent, cmpOr(a.profile.Mode, "none")
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
	answer, err := child.Send(ctx, Input{Text: prompt})
	a.mu.Lock()
	a.stats.in += child.stats.in
	a.stats.out += child.stats.out
	a.mu.Unlock()
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
