package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// modelCall is one call of the model with everything that is tried until it succeeds.
type modelCall struct {
	t       *turn
	extra   []string // What handlers add to the system prompt.
	retries int      // That handlers wanted.
	space   recovery
}

// maxErrorRetries is how often handlers may have one call repeated.
const maxErrorRetries = 3

// run makes the call and deals with its failure, in this order: compact the history if
// it is too long, try the fallback agents, ask the handlers. A nil response without an
// error means that a handler skipped the error.
func (c *modelCall) run(ctx context.Context) (*provider.Response, error) {
	a := c.t.a
	for {
		resp, began, err := c.attempt(ctx)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.opts.Logger.Warn("model call failed", "error", err, "class", provider.ClassOf(err))
		if provider.ClassOf(err) == provider.ContextExhausted && c.space.makeRoom(ctx, a) {
			c.restart(began, "the history was compacted")
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = explainFull(err, a.conv.Plan(0), a.model.info.ContextLength)
		if !began && c.failover(ctx, err) {
			continue
		}
		retry, skip := c.onError(ctx, err)
		if retry && c.retries < maxErrorRetries {
			c.retries++
			c.restart(began, fmt.Sprintf("retry %d of %d", c.retries, maxErrorRetries))
			continue
		}
		if skip {
			return nil, nil
		}
		return nil, err
	}
}

// attempt builds the request, streams the answer and counts what it cost. began tells
// whether anything was streamed.
func (c *modelCall) attempt(ctx context.Context) (resp *provider.Response, began bool, err error) {
	a := c.t.a
	req, err := c.request(ctx)
	if err != nil {
		return nil, false, err
	}
	rough := a.conv.RoughSize(a.switches.Done())
	watched := a.opts.Pipeline.Has(lifecycle.StreamChunk)
	var base sdk.Context
	if watched {
		base = a.Snapshot()
	}
	resp, err = a.profile.Model.Client.Chat(a.feed.retries(ctx), req, func(d provider.Delta) {
		began = true
		if d.Thinking != "" {
			a.feed.send(Event{Kind: ThoughtDelta, Text: d.Thinking})
		}
		if d.Text != "" {
			a.feed.send(Event{Kind: TextDelta, Text: d.Text})
		}
		if watched {
			c.chunk(ctx, &sdk.StreamChunkContext{Context: base, Text: d.Text, Thinking: d.Thinking})
		}
	})
	if watched && began {
		c.chunk(ctx, &sdk.StreamChunkContext{Context: base, Finished: true})
	}
	if err != nil {
		return nil, began, err
	}
	a.conv.Stats.Spend(resp.Usage.Input, resp.Usage.Output)
	a.conv.Tokens.Learn(rough, resp.Usage.Input)
	a.conv.History.Prune()
	if resp.Broken == "" && !slices.Contains(knownStops, resp.Stop) {
		a.opts.Logger.Warn("unknown stop reason", "model", req.Model, "reason", resp.Stop)
	}
	if resp.Message.Content != "" {
		a.feed.send(Event{Kind: Answered, Text: resp.Message.Content})
	}
	return resp, began, nil
}

// chunk shows a piece of the answer to the handlers that watch the stream.
func (c *modelCall) chunk(ctx context.Context, data *sdk.StreamChunkContext) {
	a := c.t.a
	a.feed.notices(lifecycle.Emit(ctx, a.opts.Pipeline, data, nil).Notices)
}

// request builds the next request. Transforms change this request only.
func (c *modelCall) request(ctx context.Context) (*provider.Request, error) {
	a := c.t.a
	model := &a.profile.Model
	req := &provider.Request{
		Model:      model.Name,
		System:     a.prompt(),
		Messages:   a.conv.History.Sent(),
		Generation: model.Generation,
		Think:      a.switches.Now().thinkMode(model.Think),
	}
	if len(c.extra) > 0 {
		req.System = strings.TrimSpace(req.System + "\n\n" + strings.Join(c.extra, "\n\n"))
	}
	c.hideTools(ctx)
	c.t.offered = a.offered()
	for i := range c.t.offered {
		t := &c.t.offered[i]
		req.Tools = append(req.Tools, provider.Tool{
			Name: t.Name, Description: describe(t), Parameters: t.Schema.Sent(),
		})
	}
	if !a.opts.Pipeline.Has(lifecycle.TransformMessages) { // Rendering the messages costs too much.
		return req, nil
	}
	out := emit(ctx, a, &sdk.TransformContext{Messages: conversation.Transformable(req.System, req.Messages)},
		func(d *sdk.TransformContext) error { return conversation.CheckTransformed(d.Messages) })
	a.tell(out.Outcome)
	if out.Data != nil {
		req.System, req.Messages = conversation.MergeTransformed(out.Data.Messages, req.Messages)
	}
	return req, ctx.Err()
}

// describe is the text about a tool that a model gets.
func describe(t *tool.Tool) string {
	text := t.Description
	if t.Usage != "" {
		text += "\n\nUsage:\n" + t.Usage
	}
	if t.Examples != "" {
		text += "\n\nExamples:\n" + t.Examples
	}
	return text
}

// hideTools decides by their conditions which tools the request does not offer.
func (c *modelCall) hideTools(ctx context.Context) {
	a := c.t.a
	var snap *sdk.Context
	var hidden []string
	test := func(t *tool.Tool) {
		if t.Condition == nil {
			return
		}
		if snap == nil {
			snap = new(a.Snapshot())
		}
		if !t.Condition.Eval(ctx, snap, a.opts.Place.Shell) {
			hidden = append(hidden, t.Name)
		}
	}
	for i := range a.profile.Tools {
		test(&a.profile.Tools[i])
	}
	loaded := a.conv.Offer.Loaded()
	for i := range a.profile.Deferred {
		if slices.Contains(loaded, a.profile.Deferred[i].Name) {
			test(&a.profile.Deferred[i])
		}
	}
	a.conv.Offer.Hide(hidden)
}

// restart tells faces that what they showed of an answer is void.
func (c *modelCall) restart(began bool, why string) {
	if began {
		c.t.a.feed.send(Event{Kind: Restarted, Text: why})
	}
}

// failover switches to the next fallback agent, in the mode that is active. It is
// not for refusals by a content filter, which would only be evaded.
func (c *modelCall) failover(ctx context.Context, err error) bool {
	a := c.t.a
	if provider.ClassOf(err) == provider.ContentFilter {
		return false
	}
	for len(c.t.fallbacks) > 0 {
		next := c.t.fallbacks[0]
		c.t.fallbacks = c.t.fallbacks[1:]
		a.Notice("failover", fmt.Sprintf("%v; agent %s takes over", err, next))
		failed := a.Switch(ctx, next, a.profile.Mode, "failover")
		if failed == nil {
			failed = a.render(ctx)
		}
		if failed == nil {
			return true
		}
		a.Notice("failover", fmt.Sprintf("agent %s cannot take over: %v", next, failed))
	}
	return false
}

// onError asks the handlers what to do about an error.
func (c *modelCall) onError(ctx context.Context, err error) (retry, skip bool) {
	data := &sdk.OnErrorContext{Error: err.Error()}
	if e, ok := errors.AsType[*provider.Error](err); ok {
		data.ErrorType, data.Retryable, data.StatusCode = string(e.Class), e.Class.Retryable(), e.Status
	}
	out := announce(ctx, c.t.a, data)
	return out.Retry, out.Skip
}
