package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// ErrMaxSteps ends a turn that made as many model calls as it may.
var ErrMaxSteps = errors.New("maximum steps exceeded")

// ErrBudget ends a turn when the session has used up its token budget.
var ErrBudget = errors.New("token budget exceeded")

// RefusedError is the error of an input that a handler did not let through.
type RefusedError struct {
	Source lifecycle.Source
	Reason string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("refused by %s: %s", e.Source, e.Reason) }

// Input is what the user says.
type Input struct {
	Text   string
	Images []message.Image
}

// turn is one turn of the user: what the loop remembers from one model call to the next.
type turn struct {
	a         *Agent
	offered   []tool.Tool // With the latest request.
	fallbacks []string    // Agents left to try.
	broken    int         // Responses in a row with calls that could not be read.
	outbox    outbox

	uncompactable bool // A summary failed: this turn goes on without.
}

// Send runs one user turn: it hands the input to the model and goes on until the
// model has nothing more to do. The answer has been streamed to the observer; it
// is also returned. A cancelled ctx ends the turn with ctx.Err(); the
// conversation stays usable after every error.
func (a *Agent) Send(ctx context.Context, in Input) (answer string, err error) {
	start := time.Now()
	spentIn, spentOut := a.conv.Stats.Spent()
	t := &turn{a: a, fallbacks: a.profile.Fallback}
	a.conv.Turn.Begin()
	a.conv.Offer.Enable()
	_ = a.render(ctx) // For the token counts that handlers and faces see; step reports what is wrong with it.
	a.feed.send(Event{Kind: TurnStarted, Text: in.Text})
	defer func() {
		t.flush()
		a.conv.Turn.End()
		a.conv.Offer.Enable()
		err = errors.Join(err, a.record.save())
		allIn, allOut := a.conv.Stats.Spent()
		a.feed.send(Event{
			Kind: TurnEnded, Duration: time.Since(start), Failed: err != nil, Cut: a.conv.Turn.Response().Cut,
			Usage: &provider.Usage{Input: allIn - spentIn, Output: allOut - spentOut},
		})
	}()
	text, err := t.receive(ctx, in)
	if err != nil {
		return "", err
	}
	if answer, err = t.run(ctx); err != nil {
		return answer, err
	}
	a.conv.Turn.Finish()
	t.title(ctx, text, answer)
	return answer, t.compactIfFull(ctx)
}

// receive lets the handlers judge and rewrite what the user said, and puts it into the
// conversation.
func (t *turn) receive(ctx context.Context, in Input) (string, error) {
	a, s := t.a, &t.a.profile.Settings
	if err := a.conv.Tokens.CheckInput(in.Text, s.InputShare, a.model.info.ContextLength); err != nil {
		return "", err
	}
	out := announce(ctx, a, &sdk.UserMessageContext{Text: in.Text})
	if out.Blocked != nil {
		return "", &RefusedError{out.Blocked.Source, out.Blocked.Reason}
	}
	if err := ctx.Err(); err != nil && a.opts.Pipeline.Has(lifecycle.UserMessage) {
		return "", err // Not all of the handlers have judged it.
	}
	text := out.Data.Text
	a.conv.Stats.AddTurn() // Only now: what a handler refused is no turn of the model.
	a.conv.Label.Propose(text, s.Title.Length)
	a.append(message.Message{Message: sdk.Message{Role: message.User, Content: text}, Images: in.Images})
	return text, nil
}

// maxBroken is how often in a row a model may send calls that cannot be read.
const maxBroken = 3

// run is the loop of one user turn: model call, tools, and again, until the
// model is finished.
func (t *turn) run(ctx context.Context) (text string, err error) {
	for {
		if err := t.next(ctx); err != nil {
			return text, err
		}
		resp, err := t.step(ctx)
		if err != nil || resp == nil { // No response: a handler skipped the call or the error.
			return text, err
		}
		text = resp.Message.Content
		said, err := t.takeResponse(ctx, resp)
		if err != nil {
			return text, err
		}
		r := response{resp, &t.a.profile.Model, t.a.model.info.ContextLength}
		if !r.broken() {
			t.broken = 0
		} else if t.broken++; t.broken > maxBroken {
			return text, r.brokenError(t.broken)
		}
		if len(resp.Message.ToolCalls) > 0 {
			if err := t.runTools(ctx, resp); err != nil {
				return text, err
			}
		}
		t.a.say(said)
		if !t.goesOn(r, len(said) > 0) {
			return text, nil
		}
	}
}

// next begins another model call: it checks the limits, counts, and makes room.
func (t *turn) next(ctx context.Context) error {
	a, s := t.a, &t.a.profile.Settings
	limit := cmp.Or(a.switches.Now().MaxSteps, s.MaxSteps)
	if limit > 0 && a.conv.Turn.Iteration() >= limit {
		return fmt.Errorf("%w: %d model calls in this turn (raise tools.max_steps or --max-steps)", ErrMaxSteps, limit)
	}
	in, out := a.conv.Stats.Spent()
	if used := in + out; s.TokenBudget > 0 && used >= s.TokenBudget {
		return fmt.Errorf("%w: %d of %d tokens used (raise tools.token_budget or --token-budget)",
			ErrBudget, used, s.TokenBudget)
	}
	a.conv.Turn.Next()
	a.conv.Stats.AddIteration()
	return t.compactIfFull(ctx)
}

// step makes one model call with everything around it. A nil response without an
// error means that a handler decided to do without one.
func (t *turn) step(ctx context.Context) (*provider.Response, error) {
	a := t.a
	if a.profile.Stale != nil && a.profile.Stale(ctx) {
		if err := a.Reload(); err != nil {
			return nil, err
		}
	}
	if err := a.render(ctx); err != nil {
		return nil, err
	}
	out := announce(ctx, a, &sdk.BeforeChatContext{})
	if out.Skip {
		return nil, ctx.Err()
	}
	c := &modelCall{t: t, extra: out.System}
	return c.run(ctx)
}

// takeResponse lets the handlers judge an answer and puts it into the
// conversation. What they say is returned: it follows the results of the tools.
func (t *turn) takeResponse(ctx context.Context, resp *provider.Response) ([]lifecycle.Said, error) {
	a, m := t.a, resp.Message
	a.conv.Turn.SetResponse(conversation.Response{
		Textless: m.Content == "", Calls: len(m.ToolCalls) > 0, Cut: resp.Cut(),
	})
	data := &sdk.AfterResponseContext{Response: m.Content, Thinking: m.Thinking}
	if a.opts.Pipeline.Has(lifecycle.AfterResponse) { // Rendering the arguments costs too much.
		data.Calls = pendingCalls(m.ToolCalls)
	}
	out := emit(ctx, a, data, nil)
	defer a.tell(out.Outcome)
	m.Content = out.Data.Response
	if out.Drop {
		// The calls stay, or their results would answer nothing.
		m.Content, m.Thinking, m.Thoughts = "", "", nil
	}
	if m.Content != "" || len(m.ToolCalls) > 0 {
		m.Tokens = 0
		a.append(m)
	}
	return out.Said, ctx.Err()
}

// pendingCalls are the calls of a response as handlers see them.
func pendingCalls(calls []sdk.MessageToolCall) []sdk.ToolCall {
	out := make([]sdk.ToolCall, len(calls))
	for i, c := range calls {
		out[i] = sdk.ToolCall{Name: c.Name, Args: c.Arguments, ArgsJSON: tool.ArgsJSON(c.Arguments)}
	}
	return out
}

// goesOn decides whether the model is called again after a response whose tools have run:
// for their results, for what handlers said, for a call that it must repeat, or for open
// todos. The user is told of an answer that is cut or empty.
func (t *turn) goesOn(r response, said bool) bool {
	a := t.a
	if len(r.Message.ToolCalls) > 0 {
		if a.conv.Turn.Finished() {
			return false
		}
		t.retryBrokenCall(r)
		return true
	}
	if r.Cut() && !r.blank() {
		a.Notice("model", fmt.Sprintf("the answer of %s was cut at %s", r.model.Name, r.limit()))
	}
	if t.retryBrokenCall(r) || said {
		return true
	}
	if reminder, open := a.conv.Reminder(); open && a.switches.Auto() {
		a.append(reminder)
		return true
	}
	if r.blank() {
		a.Notice("model", r.model.Name+" gave an empty answer: "+r.explainEmpty())
	}
	return false
}

// retryBrokenCall asks the model to repeat a call that the server kept back, and reports
// whether there was one.
func (t *turn) retryBrokenCall(r response) bool {
	if r.Broken == "" {
		return false
	}
	t.a.conv.Stats.AddParseRetry()
	t.a.append(conversation.Once("model", "Your last tool call could not be read and was not made: "+r.Broken+
		"\nSend it again as a proper call of one of the tools."))
	return true
}

// titlePrompt tells a model how to name a conversation.
const titlePrompt = "Name this conversation in at most six words. Answer with the name only, without quotes."

// title has a model name the session after its first turn, where that is wanted. A
// failure leaves the first words of the user.
func (t *turn) title(ctx context.Context, said, answer string) {
	a, s := t.a, &t.a.profile.Settings.Title
	if s.Model == nil || !a.conv.WantsTitle(said, s.Length) {
		return
	}
	text, cost, err := s.Model.complete(a.feed.retries(ctx), cmp.Or(s.Prompt, titlePrompt),
		said+"\n\n"+wording.Head(answer, 2000))
	a.conv.Stats.Spend(cost.Input, cost.Output)
	if err != nil {
		a.opts.Logger.Warn("no title", "error", err)
		return
	}
	a.conv.Label.SetTitle(conversation.TitleOf(strings.Trim(text, "\"'"), s.Length))
}
