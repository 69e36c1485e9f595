package agent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// summaryPrompt tells a model how to summarise a conversation.
const summaryPrompt = "You summarise a conversation between a user and a coding agent so that the agent can " +
	"continue from your summary alone.\n" +
	"Keep: what the user wants and the rules they gave; decisions and why; files that were read, created or " +
	"changed, with what matters about them; commands and their outcome; errors and how they were solved; what is " +
	"finished and what comes next.\n" +
	"Leave out: pleasantries, full file contents, anything superseded. Write short factual sentences under " +
	"headings. Answer with the summary only."

// ErrNothingToCompact says that the history is too short to be summarised.
var ErrNothingToCompact = conversation.ErrNothingToCompact

// Compact makes the history shorter because the user asked for it.
func (a *Agent) Compact(ctx context.Context) error {
	c, keep := compaction{a}, a.profile.Settings.Compaction.KeepLast
	said, skip := c.before(ctx, true, keep)
	defer func() { a.say(said) }()
	if skip {
		return nil
	}
	return c.run(ctx, a.conv.PlanShorter(keep)) // A short conversation is compacted as far as it goes.
}

// compactIfFull makes the history shorter when the window is nearly full. That
// the summary fails is no reason to end the turn: the provider decides.
func (t *turn) compactIfFull(ctx context.Context) error {
	a, c := t.a, &t.a.profile.Settings.Compaction
	used, full := a.tokens(), c.threshold()
	if c.Disabled || t.uncompactable || !full.Exceeded(used) {
		return nil
	}
	keep := c.KeepLast
	if plan := a.conv.Plan(keep); !plan.MakesRoom(full.Limit(used.Max)) {
		return nil
	}
	do := compaction{a}
	said, skip := do.before(ctx, false, keep)
	defer func() { a.say(said) }()
	if skip {
		return nil
	}
	if err := do.run(ctx, a.conv.Plan(keep)); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.uncompactable = true // Not again at every step.
		a.Notice("compaction", fmt.Sprintf("the conversation could not be compacted: %v", err))
	}
	return nil
}

// compaction makes the history of an agent shorter, as a plan of the conversation says.
type compaction struct{ a *Agent }

// before asks the handlers whether they want none. What they say is for the caller to put
// after the compaction, which it would not survive.
func (c compaction) before(ctx context.Context, forced bool, keep int) (said []lifecycle.Said, skip bool) {
	a := c.a
	if !a.opts.Pipeline.Has(lifecycle.BeforeCompaction) {
		return nil, false
	}
	a.ResolveModel(ctx)
	used := a.tokens()
	out := emit(ctx, a, &sdk.BeforeCompactionContext{
		Forced: forced, TokensUsed: used.Estimate, ContextPercent: used.Percent,
		MessageCount: a.conv.History.Len(), KeepLast: keep,
	}, nil)
	a.tell(out.Outcome)
	return out.Said, out.Skip
}

// run carries out a plan, and tells the handlers what came of it.
func (c compaction) run(ctx context.Context, plan conversation.Plan) error {
	if plan.Empty() {
		return ErrNothingToCompact
	}
	a := c.a
	before := a.conv.History.Len()
	summary, err := c.summarise(ctx, plan)
	done := &sdk.AfterCompactionContext{PreMessages: before}
	if err == nil {
		a.replace(plan.Result(summary, a.conv.Todo.String()))
		a.conv.Stats.AddCompaction()
		done.Success, done.PostMessages, done.SummaryLength = true, a.conv.History.Len(), len(summary)
		text := fmt.Sprintf("compacted %d messages into %d", before, done.PostMessages)
		a.feed.send(Event{Kind: Compacted, Text: text})
	}
	announce(ctx, a, done)
	return err
}

// summarise has a model write the summary. If the provider says that the text is too long,
// less of every tool result is shown.
func (c compaction) summarise(ctx context.Context, plan conversation.Plan) (summary string, err error) {
	a, s := c.a, &c.a.profile.Settings.Compaction
	model := &a.profile.Model
	if s.Model != nil {
		model = s.Model
	}
	for _, length := range append([]int{s.ResultLength}, s.Retries...) {
		var cost provider.Usage
		summary, cost, err = model.complete(a.feed.retries(ctx), cmp.Or(s.Prompt, summaryPrompt),
			"Summarise this conversation:\n\n"+plan.Transcript(length))
		a.conv.Stats.Spend(cost.Input, cost.Output)
		if provider.ClassOf(err) != provider.ContextExhausted {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	return summary, nil
}

// recovery is how far the compactions for one model call have gone.
type recovery struct {
	asked bool // The handlers, who are asked once.
	left  int  // Attempts.
	keep  int
}

// makeRoom compacts after the provider refused a request as too long, keeping less
// with every attempt, also over several requests. It reports whether the history is
// shorter now.
func (r *recovery) makeRoom(ctx context.Context, a *Agent) bool {
	c := compaction{a}
	if !r.asked {
		*r = recovery{asked: true, left: 5, keep: a.profile.Settings.Compaction.KeepLast}
		said, skip := c.before(ctx, false, r.keep)
		defer func() { a.say(said) }()
		if skip {
			r.left = 0
		}
	}
	for r.left > 0 && ctx.Err() == nil {
		keep := r.keep
		r.left, r.keep = r.left-1, keep/2
		if keep == 0 {
			r.left = 0
		}
		err := c.run(ctx, a.conv.Plan(keep))
		if err == nil {
			return true
		}
		a.opts.Logger.Warn("recovery compaction failed", "keep", keep, "error", err)
	}
	return false
}

// explainFull completes the error of a request that was too long although nothing is
// left to compact; others are returned as they are.
func explainFull(err error, plan conversation.Plan, window int) error {
	tokens, waiting := plan.Request()
	if provider.ClassOf(err) != provider.ContextExhausted || !waiting || !plan.Empty() {
		return err
	}
	where := "the model's window"
	if window > 0 {
		where = fmt.Sprintf("the window of %d tokens", window)
	}
	return fmt.Errorf(
		"%w; nothing is left to compact: the input (about %d tokens), the system prompt and the tools are too "+
			"long for %s",
		err, tokens, where,
	)
}
