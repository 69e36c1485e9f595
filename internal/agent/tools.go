package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// runTools executes the calls of a response in groups and commits the results in
// the order of the calls. Neighbouring calls of tools that may run side by side
// form a group; every other call is a group of its own, so that what the model
// wanted one after another happens so.
func (t *turn) runTools(ctx context.Context, resp *provider.Response) error {
	a := t.a
	calls := t.callsOf(resp)
	a.conv.Turn.ExpectResults(len(calls))
	for group := range groups(calls, a.profile.Settings.Serial) {
		t.runGroup(ctx, group)
	}
	for _, c := range calls {
		a.append(c.answer())
		if c.result.Done {
			a.conv.Turn.Finish()
		}
	}
	a.conv.Turn.ExpectResults(0)
	t.flush()
	return ctx.Err()
}

// callsOf looks up the calls of a response.
func (t *turn) callsOf(resp *provider.Response) []*call {
	calls := make([]*call, len(resp.Message.ToolCalls))
	for i, c := range resp.Message.ToolCalls {
		// What handlers disabled after the request is gone from the next one.
		calls[i] = t.lookup(c, t.offered)
		raw, malformed := resp.Malformed[c.ID]
		if malformed {
			t.a.conv.Stats.AddParseRetry()
			calls[i].invalid = malformedText(raw)
		}
		if resp.Cut() && i == len(calls)-1 && calls[i].incomplete(malformed) {
			calls[i].invalid = cutText
		}
	}
	return calls
}

// flush puts what handlers said during the tools after the results of the tools.
func (t *turn) flush() {
	said, notices := t.outbox.take()
	t.a.keep(notices)
	t.a.say(said)
}

// lookup finds the tool of a call among those that are offered.
func (t *turn) lookup(c sdk.MessageToolCall, offered []tool.Tool) *call {
	out := &call{MessageToolCall: c}
	if out.Arguments == nil {
		out.Arguments = map[string]any{}
	}
	for i := range offered {
		if offered[i].Name == c.Name {
			out.tool = offered[i]
			return out
		}
	}
	out.invalid = t.whyMissing(c.Name)
	return out
}

// whyMissing tells the model why a tool cannot be called.
func (t *turn) whyMissing(name string) string {
	a, p := t.a, &t.a.profile
	known, ok := p.find(name)
	switch {
	case ok && p.deferred(name) && !slices.Contains(a.conv.Offer.Loaded(), name):
		return fmt.Sprintf("tool %q is not loaded: call LoadTools with its name first", name)
	case ok && a.conv.Offer.Hidden(name):
		return fmt.Sprintf("tool %q is not offered now: it needs the condition %q to hold", name, known.Condition)
	case ok:
		return fmt.Sprintf("tool %q is disabled for now", name)
	case a.opts.Exists != nil && a.opts.Exists(name) && p.Mode != "":
		return fmt.Sprintf("tool %q is not available in mode %s", name, p.Mode)
	case a.opts.Exists != nil && a.opts.Exists(name):
		return fmt.Sprintf("tool %q is not available in agent %s", name, p.Agent)
	}
	var names []string
	for _, x := range a.offered() {
		names = append(names, x.Name)
	}
	return fmt.Sprintf("unknown tool %q; the tools are: %s", name, strings.Join(names, ", "))
}

// groups splits calls into runs that may be executed together.
func groups(calls []*call, serial bool) func(yield func([]*call) bool) {
	return func(yield func([]*call) bool) {
		for start := 0; start < len(calls); {
			end := start + 1
			for !serial && !calls[start].tool.Serial && end < len(calls) && !calls[end].tool.Serial {
				end++
			}
			if !yield(calls[start:end]) {
				return
			}
			start = end
		}
	}
}

// runGroup takes a group of calls through the gates in order, executes them
// together, and lets the handlers see the results in order.
func (t *turn) runGroup(ctx context.Context, group []*call) {
	for _, c := range group {
		t.admit(ctx, c)
	}
	if len(group) == 1 {
		t.execute(ctx, group[0])
	} else {
		var wg sync.WaitGroup
		for _, c := range group {
			wg.Go(func() { t.execute(ctx, c) })
		}
		wg.Wait()
	}
	for i, c := range group {
		t.conclude(ctx, c, group[i+1:])
	}
}

// admit takes a call through the gates: schema, handlers, guards, approval.
func (t *turn) admit(ctx context.Context, c *call) {
	switch {
	case ctx.Err() != nil:
		c.reject(tool.Cancelled)
		return
	case c.invalid != "":
		c.reject(c.invalid)
		return
	}
	if problems := c.checkArguments(c.Arguments); problems != "" {
		c.reject("invalid arguments: " + problems)
		return
	}
	data := &sdk.BeforeToolContext{ToolName: c.Name, ToolCallID: c.ID, Arguments: c.Arguments}
	out := emit(ctx, t.a, data, func(d *sdk.BeforeToolContext) error {
		if problems := c.checkArguments(d.Arguments); problems != "" {
			return fmt.Errorf("modified arguments are invalid: %s", problems)
		}
		return nil
	})
	t.tellLater(out.Outcome)
	c.Arguments = out.Data.Arguments
	switch {
	case out.Blocked != nil:
		c.reject(out.Blocked.Reason)
	case ctx.Err() != nil:
		c.reject(tool.Cancelled)
	case len(out.Asks) > 0:
		t.approve(ctx, c, out.Asks)
	}
	if !c.rejected {
		c.feedback = out.Feedback
		t.outbox.add(out.Said, nil)
	}
}

// tellLater is Agent.tell while tools may be running: notices are shown at once, but
// enter the conversation at the end of the batch.
func (t *turn) tellLater(out lifecycle.Outcome) {
	t.a.feed.notices(out.Notices)
	t.outbox.add(nil, out.Notices)
	t.a.conv.Offer.Disable(out.DisableTools...)
}

// execute runs the tool of an admitted call.
func (t *turn) execute(ctx context.Context, c *call) {
	if c.rejected {
		return
	}
	if ctx.Err() != nil {
		c.reject(tool.Cancelled)
		return
	}
	a := t.a
	a.feed.send(Event{Kind: ToolStarted, Tool: c.Name, CallID: c.ID, Args: c.Arguments})
	start := time.Now()
	c.result, c.err = c.tool.Run(ctx, tool.Call{
		ID: c.ID, Args: c.Arguments, Context: a.Snapshot(), Workdir: a.opts.Place.Workdir, Host: &host{t},
		Output: func(chunk string) {
			a.feed.send(Event{Kind: ToolOutput, Tool: c.Name, CallID: c.ID, Text: chunk})
		},
	})
	c.duration = time.Since(start)
	if e, ok := errors.AsType[*tool.PanicError](c.err); ok {
		a.opts.Logger.Error("panic in tool", "tool", c.Name, "value", fmt.Sprint(e.Value), "stack", e.Stack)
	}
}

// conclude counts an executed call and lets the handlers see and change its
// result. The calls that follow are those whose results must find room as well.
func (t *turn) conclude(ctx context.Context, c *call, following []*call) {
	a := t.a
	defer func() {
		if !c.nested { // Or it is part of another result.
			a.conv.Turn.AddResult(c.text())
		}
	}()
	if c.rejected {
		a.feed.send(Event{
			Kind: ToolFinished, Tool: c.Name, CallID: c.ID, Args: c.Arguments, Text: c.err.Error(), Failed: true,
		})
		return
	}
	limit := t.resultRoom(c, following)
	c.limit(&a.conv.Tokens, limit)
	a.conv.Stats.AddCall(c.Name, c.err != nil)
	a.conv.Turn.AddCall(c.done(), c.edited())
	t.afterTool(ctx, c, limit)
	a.feed.send(Event{
		Kind: ToolFinished, Tool: c.Name, CallID: c.ID, Text: c.text(), Failed: c.err != nil, Duration: c.duration,
	})
	for _, text := range c.feedback {
		a.feed.send(Event{Kind: Injected, Tool: c.Name, CallID: c.ID, Text: text})
	}
}

// resultRoom is how many tokens the result of a call may take; 0 is no limit.
func (t *turn) resultRoom(c *call, following []*call) int {
	a := t.a
	texts := []string{c.text()}
	for _, f := range following {
		texts = append(texts, f.text())
	}
	return a.conv.ResultRoom(a.profile.Settings.Result, a.model.info.ContextLength,
		a.conv.RoughSize(a.switches.Done()), texts, c.nested)
}

// afterTool lets the handlers see and change the result of an executed call.
func (t *turn) afterTool(ctx context.Context, c *call, limit int) {
	done := &sdk.AfterToolContext{
		ToolName: c.Name, ToolCallID: c.ID, Arguments: c.Arguments,
		ToolResult: c.result.Text, ToolDuration: c.duration,
	}
	if c.err != nil {
		done.ToolError = c.err.Error()
	}
	if ctx.Err() != nil { // What a call did before it was cancelled is of concern all the same.
		ctx = context.WithoutCancel(ctx)
	}
	out := emit(ctx, t.a, done, nil)
	t.tellLater(out.Outcome)
	t.outbox.add(out.Said, nil)
	c.feedback = append(c.feedback, out.Feedback...)
	if out.Data != done { // Some handler replaced the output.
		c.replaced = new(t.a.conv.Tokens.Cut(out.Data.ToolResult, limit))
	}
}
