package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// call is one tool call on its way from lookup to committed result. Every call
// goes this way: those of the model, of batches and of sub-agents.
type call struct {
	sdk.MessageToolCall
	tool     tool.Tool
	malfunct string // Why the call cannot be made at all: malformed or unknown.

	nested   bool // Made by a tool: the result goes to that tool.
	rejected bool // Never executed: the answer is ephemeral.
	result   tool.Result
	replaced *string  // What handlers made of the result.
	feedback []string // What handlers tell the model with it.
	err      error
	duration time.Duration
}

// Approval is a call that needs a user's consent.
type Approval struct {
	Tool    string
	Args    map[string]any
	Effects []string            // Declared side effects.
	Asks    []lifecycle.Refusal // Who asks, and why.
	Agent   string
	Keep    []Remember // For how long a decision can be remembered here; empty is all.
}

// Keeps reports whether a decision can be remembered for that long.
func (q Approval) Keeps(r Remember) bool { return len(q.Keep) == 0 || slices.Contains(q.Keep, r) }

// Decision is the user's answer to an Approval.
type Decision struct {
	Allow    bool
	Reason   string   // Why not.
	Remember Remember // For how long Pattern is allowed without asking again.
	Pattern  string
}

// Remember is how long a decision holds.
type Remember string

// How long a decision can hold. The zero value is this call only.
const (
	ForSession Remember = "session"
	ForProject Remember = "project"
	ForAlways  Remember = "global"
)

// NobodyAsked is what the trace says where a decision was wanted and nobody was there.
const NobodyAsked = "nobody could be asked"

// String tells what was decided.
func (d Decision) String() string {
	switch {
	case !d.Allow:
		return cmpOr(d.Reason, "no reason given")
	case d.Pattern == "" || d.Remember == "":
		return "this once"
	case d.Remember == ForSession:
		return "for the session: " + d.Pattern
	case d.Remember == ForProject:
		return "always in this project: " + d.Pattern
	}
	return "always: " + d.Pattern
}

// runTools executes the calls of a response in groups and commits the results in
// the order of the calls. Neighbouring calls of tools that may run side by side
// form a group; every other call is a group of its own, so that what the model
// wanted one after another happens so.
func (a *Agent) runTools(ctx context.Context, resp *provider.Response) error {
	calls := make([]*call, len(resp.Message.ToolCalls))
	for i, c := range resp.Message.ToolCalls {
		// What handlers disabled after the request is gone from the next one.
		calls[i] = a.lookup(c, a.turn.offered)
		raw, bad := resp.Malformed[c.ID]
		if bad {
			a.mu.Lock()
			a.stats.parseRetries++
			a.mu.Unlock()
			calls[i].malfunct = malformedText(raw)
		}
		if resp.Cut() && i == len(calls)-1 && calls[i].cut(bad) {
			calls[i].malfunct = cutText
		}
	}
	a.turn.results = waitingResults{open: len(calls)}
	for group := range groups(calls, a.profile.Settings.Serial) {
		a.runGroup(ctx, group)
	}
	for _, c := range calls {
		a.append(c.answer())
		a.turn.finished = a.turn.finished || c.result.Done
	}
	a.turn.results = waitingResults{}
	a.flush()
	return ctx.Err()
}

// flush puts what handlers said during the tools after the results of the tools.
func (a *Agent) flush() {
	a.mu.Lock()
	said, notices := a.turn.said, a.turn.notices
	a.turn.said, a.turn.notices = nil, nil
	a.mu.Unlock()
	a.record(notices)
	a.say(said)
}

func malformedText(raw string) string {
	if len(raw) > 200 {
		raw = cutUTF8(raw, 200) + "…"
	}
	return fmt.Sprintf("the arguments are not a valid JSON object: %s\nSend the call again with valid JSON.", raw)
}

// cutText is what a model reads whose call did not fit into its answer.
const cutText = "the call was cut at the output limit of your answer: its arguments are incomplete and nothing " +
	"was done. " +
	"Do not send the same call again. Do the work in smaller pieces, for example write a long file in several calls."

// cut reports whether the last call of an answer that reached the output limit is
// incomplete: its arguments are malformed, or none had come of those that it needs.
func (c *call) cut(malformed bool) bool {
	return malformed || c.malfunct == "" && len(c.Arguments) == 0 && len(c.tool.Schema.Check(c.Arguments)) > 0
}

// lookup finds the tool of a call among those that are offered.
func (a *Agent) lookup(c sdk.MessageToolCall, offered []tool.Tool) *call {
	out := &call{MessageToolCall: c}
	if out.Arguments == nil {
		out.Arguments = map[string]any{}
	}
	for _, t := range offered {
		if t.Name == c.Name {
			out.tool = t
			return out
		}
	}
	out.malfunct = a.whyMissing(c.Name)
	return out
}

// whyMissing tells the model why a tool cannot be called.
func (a *Agent) whyMissing(name string) string {
	a.mu.Lock()
	loaded, hidden := slices.Contains(a.loaded, name), slices.Contains(a.hidden, name)
	a.mu.Unlock()
	known, ok := a.profile.find(name)
	switch {
	case ok && !loaded && a.profile.deferred(name):
		return fmt.Sprintf("tool %q is not loaded: call LoadTools with its name first", name)
	case ok && hidden:
		return fmt.Sprintf("tool %q is not offered now: it needs the condition %q to hold", name, known.Condition)
	case ok:
		return fmt.Sprintf("tool %q is disabled for now", name)
	}
	if a.opts.Exists != nil && a.opts.Exists(name) {
		where := "agent " + a.profile.Agent
		if a.profile.Mode != "" {
			where = "mode " + a.profile.Mode
		}
		return fmt.Sprintf("tool %q is not available in %s", name, where)
	}
	var names []string
	for _, t := range a.available() {
		names = append(names, t.Name)
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
func (a *Agent) runGroup(ctx context.Context, group []*call) {
	for _, c := range group {
		a.admit(ctx, c)
	}
	if len(group) == 1 {
		a.execute(ctx, group[0])
	} else {
		var wg sync.WaitGroup
		for _, c := range group {
			wg.Go(func() { a.execute(ctx, c) })
		}
		wg.Wait()
	}
	for i, c := range group {
		a.conclude(ctx, c, group[i+1:])
	}
}

// admit takes a call through the gates: schema, handlers, guards, approval.
func (a *Agent) admit(ctx context.Context, c *call) {
	switch {
	case ctx.Err() != nil:
		c.reject("cancelled by the user")
		return
	case c.malfunct != "":
		c.reject(c.malfunct)
		return
	}
	if problems := c.tool.Schema.Check(c.Arguments); len(problems) > 0 {
		c.reject("invalid arguments: " + strings.Join(problems, "; "))
		return
	}
	data := &sdk.BeforeToolContext{Context: a.Snapshot(), ToolName: c.Name, ToolCallID: c.ID, Arguments: c.Arguments}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, data, func(d *sdk.BeforeToolContext) error {
		if problems := c.tool.Schema.Check(d.Arguments); len(problems) > 0 {
			return fmt.Errorf("modified arguments are invalid: %s", strings.Join(problems, "; "))
		}
		return nil
	})
	a.during(out.Outcome)
	c.Arguments = out.Data.Arguments
	switch {
	case out.Blocked != nil:
		c.reject(out.Blocked.Reason)
	case ctx.Err() != nil:
		c.reject("cancelled by the user")
	case len(out.Asks) > 0:
		a.approve(ctx, c, out.Asks)
	}
	if !c.rejected {
		c.feedback = out.Feedback
		a.mu.Lock()
		a.turn.said = append(a.turn.said, out.Said...)
		a.mu.Unlock()
	}
}

// during takes over an outcome while tools may be running: notices are shown at
// once, what goes into the conversation waits for the end of the batch.
func (a *Agent) during(out lifecycle.Outcome) {
	a.show(out.Notices)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn.notices = append(a.turn.notices, out.Notices...)
	a.turn.disabled = append(a.turn.disabled, out.DisableTools...)
}

// approve asks the user about a call.
func (a *Agent) approve(ctx context.Context, c *call, asks []lifecycle.Refusal) {
	var reasons []string
	for _, ask := range asks {
		reasons = append(reasons, ask.Reason)
	}
	why := strings.Join(reasons, "; ")
	r := lifecycle.Record{
		Time: time.Now(), Moment: lifecycle.BeforeToolExecution, Source: lifecycle.Approval, Verdict: lifecycle.Blocked,
		Detail: NobodyAsked, Tool: c.Name, CallID: c.ID,
	}
	if a.opts.Approve == nil {
		a.opts.Pipeline.Note(r)
		c.reject(
			fmt.Sprintf(
				"needs approval (%s), and nobody can be asked here. The user can allow it with --auto or by a "+
					"rule in tools.policy.auto.",
				why,
			),
		)
		return
	}
	d := a.opts.Approve(
		ctx,
		Approval{Tool: c.Name, Args: c.Arguments, Effects: c.tool.SideEffects, Asks: asks, Agent: a.profile.Agent},
	)
	if r.Duration, r.Detail = time.Since(r.Time), d.String(); d.Allow {
		r.Verdict = lifecycle.Allowed
	}
	a.opts.Pipeline.Note(r)
	if !d.Allow {
		c.reject("denied by the user: " + cmpOr(d.Reason, "no reason given"))
	}
}

// reject answers a call without executing it.
func (c *call) reject(reason string) { c.rejected, c.err = true, errors.New(reason) }

// execute runs the tool of an admitted call.
func (a *Agent) execute(ctx context.Context, c *call) {
	if c.rejected {
		return
	}
	if ctx.Err() != nil {
		c.reject("cancelled by the user")
		return
	}
	a.emit(Event{Kind: ToolStarted, Tool: c.Name, CallID: c.ID, Args: c.Arguments})
	start := time.Now()
	c.result, c.err = a.runTool(ctx, c)
	c.duration = time.Since(start)
}

// runTool calls the tool under its deadline; a tool that does not come back then
// is left behind.
func (a *Agent) runTool(ctx context.Context, c *call) (tool.Result, error) {
	tc := tool.Call{
		ID: c.ID, Args: c.Arguments, Context: a.Snapshot(), Workdir: a.opts.Place.Workdir, Host: a,
		Output: func(chunk string) { a.emit(Event{Kind: ToolOutput, Tool: c.Name, CallID: c.ID, Text: chunk}) },
	}
	if c.tool.Timeout <= 0 {
		return a.safely(ctx, c, tc)
	}
	limited, cancel := context.WithTimeout(ctx, c.tool.Timeout)
	defer cancel()
	type answer struct {
		result tool.Result
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := a.safely(limited, c, tc)
		done <- answer{r, err}
	}()
	select {
	case r := <-done:
		return r.result, r.err
	case <-limited.Done():
		if ctx.Err() != nil {
			return tool.Result{}, errors.New("cancelled by the user")
		}
		return tool.Result{}, fmt.Errorf("timed out after %s", c.tool.Timeout)
	}
}

// safely calls the tool and turns a panic into an error.
func (a *Agent) safely(ctx context.Context, c *call, tc tool.Call) (r tool.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.opts.Logger.Error("panic in tool", "tool", c.Name, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("tool %s panicked: %v", c.Name, v)
		}
	}()
	return c.tool.Execute(ctx, tc)
}

// conclude counts an executed call and lets the handlers see and change its
// result. The calls that follow are those whose results must find room as well.
func (a *Agent) conclude(ctx context.Context, c *call, following []*call) {
	defer a.takeRoom(c)
	if c.rejected {
		a.emit(
			Event{Kind: ToolFinished, Tool: c.Name, CallID: c.ID, Args: c.Arguments, Text: c.err.Error(), Failed: true},
		)
		return
	}
	limit := a.resultLimit(c, following)
	c.result.Text = a.limitResult(c.result.Text, limit)
	if c.err != nil {
		if text := a.limitResult(c.err.Error(), limit); text != c.err.Error() {
			c.err = errors.New(text)
		}
	}
	a.count(c)
	data := &sdk.AfterToolContext{
		Context: a.Snapshot(), ToolName: c.Name, ToolCallID: c.ID, Arguments: c.Arguments,
		ToolResult: c.result.Text, ToolDuration: c.duration,
	}
	if c.err != nil {
		data.ToolError = c.err.Error()
	}
	if ctx.Err() != nil { // What a call did before it was cancelled is of concern all the same.
		ctx = context.WithoutCancel(ctx)
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, data, nil)
	a.during(out.Outcome)
	c.feedback = append(c.feedback, out.Feedback...)
	a.mu.Lock()
	a.turn.said = append(a.turn.said, out.Said...)
	a.mu.Unlock()
	if out.Data != data { // Some handler replaced the output.
		c.replaced = new(a.limitResult(out.Data.ToolResult, limit))
	}
	a.emit(
		Event{
			Kind:     ToolFinished,
			Tool:     c.Name,
			CallID:   c.ID,
			Text:     c.text(),
			Failed:   c.err != nil,
			Duration: c.duration,
		},
	)
	for _, text := range c.feedback {
		a.emit(Event{Kind: Injected, Tool: c.Name, CallID: c.ID, Text: text})
	}
}

// count takes an executed call into the statistics and the history of the turn.
func (a *Agent) count(c *call) {
	record := sdk.ToolCall{
		Name:     c.Name,
		Args:     tool.CloneArgs(c.Arguments),
		ArgsJSON: tool.ArgsJSON(c.Arguments),
		Result:   c.result.Text,
		Duration: c.duration,
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stats.tools == nil {
		a.stats.tools = map[string]int{}
	}
	a.stats.tools[c.Name]++
	if c.err != nil {
		a.stats.toolErrors++
		record.Error = c.err.Error()
	} else if (c.Name == "Patch" || c.Name == "Edit") && c.tool.Paths != nil {
		if paths, err := c.tool.Paths(c.Arguments); err == nil {
			for _, p := range paths.Write {
				a.turn.patches[p]++
			}
		}
	}
	a.turn.calls = append(a.turn.calls, record)
}

// text is what the model reads as the answer to the call.
func (c *call) text() string {
	text := c.result.Text
	switch {
	case c.replaced != nil:
		text = *c.replaced
	case c.err != nil && text == "":
		text = errorLine(c.err)
	case c.err != nil:
		text += "\n\n" + errorLine(c.err)
	}
	if len(c.feedback) == 0 {
		return text
	}
	return strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n"+strings.Join(c.feedback, "\n"), "\n")
}

// errorLine is an error as the model reads it. Extensions name the kind of error
// themselves, as in "Error [exception]: ...".
func errorLine(err error) string {
	if text := err.Error(); strings.HasPrefix(text, "Error [") {
		return text
	}
	return "Error: " + err.Error()
}

// answer is the message that commits the result. Calls that were never executed
// are seen once and then forgotten.
func (c *call) answer() message.Message {
	kind := sdk.TypeNormal
	if c.rejected {
		kind = message.Ephemeral
	}
	return message.Message{
		Message: sdk.Message{Role: message.Tool, Content: c.text(), ToolName: c.Name, ToolCallID: c.ID, Type: kind},
		Images:  c.result.Images, Failed: c.err != nil,
	}
}
