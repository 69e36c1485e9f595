package plugin

import (
	"context"
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// hookSpec is one function that a plugin may export to take part in a moment.
type hookSpec struct {
	moment    lifecycle.Moment
	signature func() string
	bind      func(p *plugin, fn any) (lifecycle.Handler, bool)
}

// function is the name of the function.
func (h *hookSpec) function() string {
	row, _ := lifecycle.Describe(h.moment)
	return row.Function
}

// hookSpecs are the functions, in the order in which they are listed.
func hookSpecs() []hookSpec {
	return []hookSpec{
		hookOf[sdk.BeforeChatContext](lifecycle.BeforeChat, result),
		hookOf[sdk.AfterResponseContext](lifecycle.AfterResponse, result),
		hookOf[sdk.BeforeToolContext](lifecycle.BeforeToolExecution, beforeTool),
		hookOf[sdk.AfterToolContext](lifecycle.AfterToolExecution, result),
		hookOf[sdk.OnErrorContext](lifecycle.OnError, result),
		hookOf[sdk.BeforeCompactionContext](lifecycle.BeforeCompaction, result),
		hookOf[sdk.AfterCompactionContext](lifecycle.AfterCompaction, result),
		hookOf[sdk.OnAgentSwitchContext](lifecycle.OnAgentSwitch, result),
		hookOf[sdk.TransformContext](lifecycle.TransformMessages, transformed),
		hookOf[sdk.SessionStartContext](lifecycle.SessionStart, result),
		hookOf[sdk.UserMessageContext](lifecycle.UserMessage, userMessage),
		observerOf[sdk.StreamChunkContext](lifecycle.StreamChunk),
		hookOf[sdk.SessionEndContext](lifecycle.SessionEnd, result),
	}
}

// hookOf describes a hook that takes a C and returns an R.
func hookOf[C, R any](m lifecycle.Moment, reply func(*R) lifecycle.Reply) hookSpec {
	type function = func(context.Context, C) (R, error)
	return hookSpec{
		m,
		func() string { return fmt.Sprintf("%T", function(nil)) },
		func(p *plugin, fn any) (lifecycle.Handler, bool) {
			f, ok := fn.(function) // Once: calls need no reflection of ours.
			if !ok {
				return nil, false
			}
			return lifecycle.HandlerFunc(func(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				data, ok := ev.Data.(*C)
				if !ok {
					return lifecycle.Reply{}, fmt.Errorf("unexpected data %T", ev.Data)
				}
				c := *data
				p.isolate(&c)
				r, err := call(ctx, p, p.limit, false, func(ctx context.Context) (R, error) { return f(ctx, c) })
				if err != nil {
					return lifecycle.Reply{}, asFault(err)
				}
				return reply(&r), nil
			}), true
		},
	}
}

// observerOf describes a hook that takes a C and changes nothing.
func observerOf[C any](m lifecycle.Moment) hookSpec {
	type function = func(context.Context, C) error
	return hookSpec{
		m,
		func() string { return fmt.Sprintf("%T", function(nil)) },
		func(p *plugin, fn any) (lifecycle.Handler, bool) {
			f, ok := fn.(function)
			if !ok {
				return nil, false
			}
			return lifecycle.HandlerFunc(func(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				data, ok := ev.Data.(*C)
				if !ok {
					return lifecycle.Reply{}, fmt.Errorf("unexpected data %T", ev.Data)
				}
				c := *data
				p.isolate(&c)
				_, err := call(ctx, p, p.limit, false, func(ctx context.Context) (any, error) { return nil, f(ctx, c) })
				return lifecycle.Reply{}, asFault(err)
			}), true
		},
	}
}

func result(r *sdk.Result) lifecycle.Reply { return lifecycle.Reply{Result: *r} }

func transformed(r *[]sdk.Message) lifecycle.Reply {
	if *r == nil {
		// No messages are an invalid answer, not the wish to change nothing.
		return lifecycle.Reply{Messages: []sdk.Message{}}
	}
	return lifecycle.Reply{Messages: *r}
}

func beforeTool(r *sdk.BeforeToolResult) lifecycle.Reply {
	out := lifecycle.Reply{Result: r.Result, Arguments: r.Arguments, Block: r.Block}
	if r.Block {
		out.Reason = "Execution blocked by plugin"
		if r.Message != "" && r.Notice == "" {
			out.Reason += ": " + r.Prefix + r.Message
		}
	}
	return out
}

func userMessage(r *sdk.UserMessageResult) lifecycle.Reply {
	out := lifecycle.Reply{Result: r.Result, Text: r.Text, Block: r.Block}
	if r.Block && r.Message != "" {
		out.Reason = r.Prefix + r.Message
	}
	return out
}

// bindHooks makes a binding of every hook that the plugin exports.
func (p *plugin) bindHooks(when *condition.Expr) error {
	for _, spec := range hookSpecs() {
		fn := p.program.lookup(spec.function())
		if fn == nil {
			continue
		}
		handler, ok := spec.bind(p, fn)
		if !ok {
			return fmt.Errorf("%s has the signature %s, expected %s", spec.function(), typeOf(fn), spec.signature())
		}
		p.bindings = append(p.bindings, lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Plugin, Name: p.name, File: p.dir},
			Moment: spec.moment, Condition: when, Once: p.manifest.Once, // The deadline is our own: see call.
			OnFailure: lifecycle.Failure(p.manifest.OnFailure), Handler: handler,
		})
	}
	p.bindings = slices.Clip(p.bindings)
	return nil
}
