package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// chat makes one model call: it builds the request, streams the answer and
// counts what it cost. began tells whether anything was streamed.
func (a *Agent) chat(ctx context.Context, extra []string) (resp *provider.Response, began bool, err error) {
	req, err := a.request(ctx, extra)
	if err != nil {
		return nil, false, err
	}
	raw := a.rough()
	observe := a.opts.Pipeline.Has(lifecycle.StreamChunk)
	var base sdk.Context
	if observe {
		base = a.Snapshot()
	}
	resp, err = a.profile.Model.Client.Chat(a.telling(ctx), req, func(d provider.Delta) {
		began = true
		if d.Thinking != "" {
			a.emit(Event{Kind: ThoughtDelta, Text: d.Thinking})
		}
		if d.Text != "" {
			a.emit(Event{Kind: TextDelta, Text: d.Text})
		}
		if observe {
			a.chunk(ctx, &sdk.StreamChunkContext{Context: base, Text: d.Text, Thinking: d.Thinking})
		}
	})
	if observe && began {
		a.chunk(ctx, &sdk.StreamChunkContext{Context: base, Finished: true})
	}
	if err != nil {
		return nil, began, err
	}
	a.spend(resp.Usage)
	a.tokens.learn(raw, resp.Usage)
	a.hist.prune()
	if resp.Broken == "" && !slices.Contains(stops, resp.Stop) {
		a.opts.Logger.Warn("unknown stop reason", "model", req.Model, "reason", resp.Stop)
	}
	if resp.Message.Content != "" {
		a.emit(Event{Kind: Answered, Text: resp.Message.Content})
	}
	return resp, began, nil
}

// telling is a context in which faces hear of requests that are sent again.
func (a *Agent) telling(ctx context.Context) context.Context {
	return provider.OnRetry(ctx, func(e *provider.Error, wait time.Duration) {
		why := *e
		why.RetryAfter = 0 // The event says how long.
		a.emit(Event{Kind: Retrying, Text: why.Error(), Duration: wait})
	})
}

// chunk shows a piece of the answer to the handlers that watch the stream.
func (a *Agent) chunk(ctx context.Context, data *sdk.StreamChunkContext) {
	a.show(lifecycle.Emit(ctx, a.opts.Pipeline, data, nil).Notices)
}

// request builds the next request. Transforms change this request only.
func (a *Agent) request(ctx context.Context, extra []string) (*provider.Request, error) {
	req := &provider.Request{
		Model:      a.profile.Model.Name,
		System:     a.prompt(),
		Messages:   a.hist.sent(),
		Generation: a.profile.Model.Generation,
	}
	if think := cmpOr(a.state.think, a.profile.Model.Think); think != "" {
		req.Think = a.Think()
	}
	if len(extra) > 0 {
		req.System = strings.TrimSpace(req.System + "\n\n" + strings.Join(extra, "\n\n"))
	}
	a.weigh(ctx)
	a.turn.offered = a.available()
	for _, t := range a.turn.offered {
		req.Tools = append(
			req.Tools,
			provider.Tool{Name: t.Name, Description: describe(&t), Parameters: t.Schema.Sent()},
		)
	}
	if !a.opts.Pipeline.Has(lifecycle.TransformMessages) {
		return req, nil
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.TransformContext{
		Context: a.Snapshot(), Messages: transformable(req.System, req.Messages),
	}, func(d *sdk.TransformContext) error { return checkTransformed(d.Messages) })
	a.tell(out.Outcome)
	if out.Data != nil {
		req.System, req.Messages = mergeTransformed(out.Data.Messages, req.Messages)
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

// maxErrorRetries is how often handlers may have one call repeated.
const maxErrorRetries = 3

// chatWithRecovery makes one model call and deals with its failure, in this
// order: compact the history if it is too long, try the fallback agents, ask the
// handlers. A nil response without an error means that a handler skipped the error.
func (a *Agent) chatWithRecovery(ctx context.Context, extra []string) (*provider.Response, error) {
	retries, space := 0, recovery{}
	for {
		resp, began, err := a.chat(ctx, extra)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.opts.Logger.Warn("model call failed", "error", err, "class", provider.ClassOf(err))
		if provider.ClassOf(err) == provider.ContextExhausted && a.recoverSpace(ctx, &space) {
			a.restart(began, "the history was compacted")
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = a.explainFull(err)
		if !began && a.failover(ctx, err) {
			continue
		}
		retry, skip := a.onError(ctx, err)
		if retry && retries < maxErrorRetries {
			retries++
			a.restart(began, fmt.Sprintf("retry %d of %d", retries, maxErrorRetries))
			continue
		}
		if skip {
			return nil, nil
		}
		return nil, err
	}
}

// restart tells faces that what they showed of an answer is void.
func (a *Agent) restart(began bool, why string) {
	if began {
		a.emit(Event{Kind: Restarted, Text: why})
	}
}

// failover switches to the next fallback agent, in the mode that is active. It is
// not for refusals by a content filter, which would only be evaded.
func (a *Agent) failover(ctx context.Context, err error) bool {
	if provider.ClassOf(err) == provider.ContentFilter {
		return false
	}
	for len(a.turn.failovers) > 0 {
		next := a.turn.failovers[0]
		a.turn.failovers = a.turn.failovers[1:]
		a.Notice("failover", fmt.Sprintf("%v; agent %s takes over", err, next))
		if err := a.Switch(ctx, next, a.profile.Mode, "failover"); err != nil {
			a.Notice("failover", fmt.Sprintf("agent %s cannot take over: %v", next, err))
			continue
		}
		if err := a.render(); err != nil {
			a.Notice("failover", fmt.Sprintf("agent %s cannot take over: %v", next, err))
			continue
		}
		return true
	}
	return false
}

// onError asks the handlers what to do about an error.
func (a *Agent) onError(ctx context.Context, err error) (retry, skip bool) {
	if !a.opts.Pipeline.Has(lifecycle.OnError) {
		return false, false
	}
	data := &sdk.OnErrorContext{Context: a.Snapshot(), Error: err.Error()}
	if e, ok := asProviderError(err); ok {
		data.ErrorType, data.Retryable, data.StatusCode = string(e.Class), e.Class.Retryable(), e.Status
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, data, nil)
	a.tell(out.Outcome)
	a.say(out.Said)
	return out.Retry, out.Skip
}

// pendingCalls are the calls of a response as handlers see them.
func pendingCalls(calls []sdk.MessageToolCall) []sdk.ToolCall {
	out := make([]sdk.ToolCall, len(calls))
	for i, c := range calls {
		out[i] = sdk.ToolCall{Name: c.Name, Args: c.Arguments, ArgsJSON: tool.ArgsJSON(c.Arguments)}
	}
	return out
}

// userText is a message in the name of the user.
func userText(text, kind string) message.Message {
	return message.Message{Message: sdk.Message{Role: message.User, Content: text, Type: kind}}
}
