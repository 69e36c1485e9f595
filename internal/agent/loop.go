package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
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

// Send runs one user turn: it hands the input to the model and goes on until the
// model has nothing more to do. The answer has been streamed to the observer; it
// is also returned. A cancelled ctx ends the turn with ctx.Err(); the
// conversation stays usable after every error.
func (a *Agent) Send(ctx context.Context, in Input) (answer string, err error) {
	start := time.Now()
	a.resolveModel(ctx)
	before := provider.Usage{Input: a.stats.in, Output: a.stats.out}
	a.beginTurn()
	_ = a.render() // For the token counts that handlers and faces see; step reports what is wrong with it.
	a.emit(Event{Kind: TurnStarted, Text: in.Text})
	defer func() {
		a.flush()
		a.mu.Lock()
		a.turn.iteration, a.turn.disabled = 0, nil
		a.mu.Unlock()
		err = errors.Join(err, a.settle())
		a.emit(Event{Kind: TurnEnded, Duration: time.Since(start), Failed: err != nil, Cut: a.turn.response.cut,
			Usage: &provider.Usage{Input: a.stats.in - before.Input, Output: a.stats.out - before.Output}})
	}()

	text, err := a.receive(ctx, in.Text)
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	a.stats.turns++ // Only now: what a handler refused is no turn of the model.
	a.mu.Unlock()
	a.autoTitle(text)
	a.append(message.Message{Message: sdk.Message{Role: message.User, Content: text}, Images: in.Images})
	answer, err = a.run(ctx)
	if err == nil {
		a.turn.finished = true
		a.modelTitle(ctx, text, answer)
		err = a.compactIfFull(ctx)
	}
	return answer, err
}

// beginTurn resets what is counted per user turn.
func (a *Agent) beginTurn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn = turn{patches: map[string]int{}, failovers: a.profile.Fallback}
}

// settle makes the session durable at the end of a turn.
func (a *Agent) settle() error {
	if a.opts.Log == nil {
		return nil
	}
	return errors.Join(a.saveMeta(), a.opts.Log.Sync())
}

// autoTitle names the session after the first thing the user said.
func (a *Agent) autoTitle(text string) {
	if limit := a.profile.Settings.Title.Length; a.label.title == "" && limit > 0 {
		a.label.title = titleOf(text, limit)
	}
}

// titleOf makes a title of the first line of a text.
func titleOf(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > limit {
		line = strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return line
}

// titlePrompt tells a model how to name a conversation.
const titlePrompt = "Name this conversation in at most six words. Answer with the name only, without quotes."

// modelTitle has a model name the session after its first turn, where that is
// wanted. A failure leaves the first words of the user.
func (a *Agent) modelTitle(ctx context.Context, said, answer string) {
	t := a.profile.Settings.Title
	if t.Model == nil || t.Length <= 0 || a.stats.turns != 1 || a.label.title != titleOf(said, t.Length) {
		return
	}
	text, err := a.complete(ctx, *t.Model, cmpOr(t.Prompt, titlePrompt), said+"\n\n"+cutUTF8(answer, 2000))
	if err != nil {
		a.opts.Logger.Warn("no title", "error", err)
		return
	}
	a.label.title = titleOf(strings.Trim(text, "\"'"), t.Length)
}

// receive lets the handlers judge and rewrite what the user said.
func (a *Agent) receive(ctx context.Context, text string) (string, error) {
	if share, window := a.profile.Settings.InputShare, a.info.ContextLength; share > 0 && window > 0 &&
		a.size(text) > window*share/100 {
		return "", fmt.Errorf(
			"input too long: about %d tokens, more than %d%% of the %d token window (tools.user_input_max_percentage)",
			a.size(text),
			share,
			window,
		)
	}
	if !a.opts.Pipeline.Has(lifecycle.UserMessage) {
		return text, nil
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.UserMessageContext{Context: a.Snapshot(), Text: text}, nil)
	a.tell(out.Outcome)
	if out.Blocked != nil {
		return "", &RefusedError{out.Blocked.Source, out.Blocked.Reason}
	}
	a.say(out.Said)
	return out.Data.Text, ctx.Err()
}

// run is the loop of one user turn: model call, tools, and again, until the
// model is finished.
func (a *Agent) run(ctx context.Context) (answer string, err error) {
	malformed := 0
	for {
		if err := a.nextIteration(); err != nil {
			return answer, err
		}
		if err := a.compactIfFull(ctx); err != nil {
			return answer, err
		}
		resp, err := a.step(ctx)
		if err != nil || resp == nil { // No response: a handler skipped the call or the error.
			return answer, err
		}
		answer = resp.Message.Content
		said, err := a.takeResponse(ctx, resp)
		if err != nil {
			return answer, err
		}
		if len(resp.Malformed) == 0 && resp.Broken == "" {
			malformed = 0
		} else if malformed++; malformed > maxParseRetries {
			return answer, a.hopeless(resp, malformed)
		}
		if len(resp.Message.ToolCalls) > 0 {
			if err := a.runTools(ctx, resp); err != nil {
				return answer, err
			}
			a.say(said)
			if a.turn.finished {
				return answer, nil
			}
			a.mendCall(resp)
			continue
		}
		a.say(said)
		if resp.Cut() && strings.TrimSpace(answer) != "" {
			a.Notice("model", fmt.Sprintf("the answer of %s was cut at %s", a.profile.Model.Name, a.limit(resp)))
		}
		if !a.mendCall(resp) && len(said) == 0 && !a.goOn() {
			if strings.TrimSpace(answer) == "" {
				a.Notice("model", a.profile.Model.Name+" gave an empty answer: "+a.whyEmpty(resp))
			}
			return answer, nil
		}
	}
}

// maxParseRetries is how often in a row a model may send malformed tool calls.
const maxParseRetries = 3

// nextIteration counts a model call and checks the limits.
func (a *Agent) nextIteration() error {
	limit, budget := a.maxSteps(), a.profile.Settings.TokenBudget
	if a.turn.iteration >= limit && limit > 0 {
		return fmt.Errorf("%w: %d model calls in this turn (raise tools.max_steps or --max-steps)", ErrMaxSteps, limit)
	}
	if used := a.stats.in + a.stats.out; budget > 0 && used >= budget {
		return fmt.Errorf(
			"%w: %d of %d tokens used (raise tools.token_budget or --token-budget)",
			ErrBudget,
			used,
			budget,
		)
	}
	a.mu.Lock()
	a.turn.iteration++
	a.stats.iterations++
	a.mu.Unlock()
	return nil
}

// goOn decides in auto mode whether open todos keep the loop going, and reminds
// the model of them.
func (a *Agent) goOn() bool {
	c := a.opts.Todo.Counts()
	if !a.state.auto || c.Pending+c.InProgress == 0 {
		return false
	}
	a.append(message.Message{
		Message: sdk.Message{
			Role:    message.User,
			Type:    sdk.TypeSynthetic,
			Content: "Auto mode is on and these todos are open. Continue with the next one.\n\n" + a.opts.Todo.String(),
		},
		Eject: true, Source: "auto",
	})
	return true
}

// step makes one model call with everything around it. A nil response without an
// error means that a handler decided to do without one.
func (a *Agent) step(ctx context.Context) (*provider.Response, error) {
	if a.profile.Stale != nil && a.profile.Stale(ctx) {
		if err := a.Reload(); err != nil {
			return nil, err
		}
	}
	if err := a.render(); err != nil {
		return nil, err
	}
	var extra []string
	if a.opts.Pipeline.Has(lifecycle.BeforeChat) {
		out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.BeforeChatContext{Context: a.Snapshot()}, nil)
		a.tell(out.Outcome)
		a.say(out.Said)
		if out.Skip {
			return nil, ctx.Err()
		}
		extra = out.System
	}
	return a.chatWithRecovery(ctx, extra)
}

// takeResponse lets the handlers judge an answer and puts it into the
// conversation. What they say is returned: it follows the results of the tools.
func (a *Agent) takeResponse(ctx context.Context, resp *provider.Response) ([]lifecycle.Said, error) {
	m := resp.Message
	a.mu.Lock()
	a.turn.response = responseState{
		empty: m.Content == "" &&
			len(m.ToolCalls) == 0,
		textless: m.Content == "",
		calls:    len(m.ToolCalls) > 0,
		cut:      resp.Cut(),
	}
	a.mu.Unlock()
	var said []lifecycle.Said
	if a.opts.Pipeline.Has(lifecycle.AfterResponse) {
		out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.AfterResponseContext{
			Context: a.Snapshot(), Response: m.Content, Thinking: m.Thinking, Calls: pendingCalls(m.ToolCalls),
		}, nil)
		m.Content = out.Data.Response
		if out.Drop {
			// The calls stay, or their results would answer nothing.
			m.Content, m.Thinking, m.Thoughts = "", "", nil
		}
		defer a.tell(out.Outcome)
		said = out.Said
	}
	if m.Content != "" || len(m.ToolCalls) > 0 {
		m.Tokens = 0
		a.append(m)
	}
	return said, ctx.Err()
}
