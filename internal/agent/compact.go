package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// summaryPrompt tells a model how to summarise a conversation.
const summaryPrompt = `You summarise a conversation between a user and a coding agent so that the agent can continue from your summary alone.
Keep: what the user wants and the rules they gave; decisions and why; files that were read, created or changed, with what matters about them; commands and their outcome; errors and how they were solved; what is finished and what comes next.
Leave out: pleasantries, full file contents, anything superseded. Write short factual sentences under headings. Answer with the summary only.`

// ErrNothingToCompact says that the history is too short to be summarised.
var ErrNothingToCompact = errors.New("nothing to compact: a summary would not make the conversation shorter")

// Compact makes the history shorter because the user asked for it.
func (a *Agent) Compact(ctx context.Context) error {
	keep := a.profile.Settings.Compaction.KeepLast
	said, skip := a.beforeCompaction(ctx, true, keep)
	defer func() { a.say(said) }()
	if skip {
		return nil
	}
	// A short conversation is compacted as far as it goes.
	for ; !a.gains(a.boundary(keep)); keep /= 2 {
		if keep <= 1 {
			return ErrNothingToCompact
		}
	}
	return a.compact(ctx, keep)
}

// summaryTag is how a summary begins.
const summaryTag = "<summary>\nThe conversation so far, summarised because it became too long:\n\n"

// isSummary reports whether a message is what a compaction left of others.
func isSummary(m *message.Message) bool {
	return m.Role == message.User && strings.HasPrefix(m.Content, summaryTag)
}

// gains reports whether a summary of the messages before cut makes the conversation
// shorter: of several new messages, or of one that is longer than a summary is.
func (a *Agent) gains(cut int) bool {
	const summary = 500 // Tokens.
	sent, raw, open := 0, 0, a.unanswered()
	for i := range a.hist.msgs[:cut] {
		if m := &a.hist.msgs[i]; m.Sent() && !isSummary(m) && i != open {
			sent++
			raw += m.Tokens
		}
	}
	return sent > 1 || a.tokens.real(raw) > summary
}

// compactIfFull makes the history shorter when the window is nearly full. That
// the summary fails is no reason to end the turn: the provider decides.
func (a *Agent) compactIfFull(ctx context.Context) error {
	c := a.profile.Settings.Compaction
	if c.Disabled {
		return nil
	}
	tokens := a.tokenState()
	full := tokens.Max > 0 && c.Threshold > 0 && float64(tokens.Estimate)*100 > c.Threshold*float64(tokens.Max)
	if c.MaxTokens > 0 {
		full = tokens.Estimate > c.MaxTokens
	}
	if !full || a.turn.uncompactable || !a.worthwhile(a.boundary(c.KeepLast), tokens) {
		return nil
	}
	said, skip := a.beforeCompaction(ctx, false, c.KeepLast)
	defer func() { a.say(said) }()
	if skip {
		return nil
	}
	if err := a.compact(ctx, c.KeepLast); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.turn.uncompactable = true // Not again at every step.
		a.Notice("compaction", fmt.Sprintf("the conversation could not be compacted: %v", err))
	}
	return nil
}

// worthwhile reports whether the messages before cut take enough of the window
// that a summary of them makes room. Where the prompt itself fills a small window,
// summarising again and again would not help.
func (a *Agent) worthwhile(cut int, tokens sdk.TokenState) bool {
	raw, open := 0, a.unanswered()
	for i := range a.hist.msgs[:cut] {
		if i != open {
			raw += a.hist.msgs[i].Tokens
		}
	}
	limit := tokens.Max
	if n := a.profile.Settings.Compaction.MaxTokens; n > 0 {
		limit = n
	}
	return cut > 0 && a.tokens.real(raw)*20 >= limit
}

// recovery is how far the compactions for one model call have gone.
type recovery struct {
	asked bool // The handlers, who are asked once.
	left  int  // Attempts.
	keep  int
}

// recoverSpace compacts after the provider refused a request as too long,
// keeping less with every attempt, also over several requests. It reports whether
// the history is shorter now.
func (a *Agent) recoverSpace(ctx context.Context, r *recovery) bool {
	if !r.asked {
		*r = recovery{asked: true, left: 5, keep: a.profile.Settings.Compaction.KeepLast}
		said, skip := a.beforeCompaction(ctx, false, r.keep)
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
		err := a.compact(ctx, keep)
		if err == nil {
			return true
		}
		a.opts.Logger.Warn("recovery compaction failed", "keep", keep, "error", err)
	}
	return false
}

// explainFull completes the error of a request that was too long although nothing is
// left to compact; others are returned as they are.
func (a *Agent) explainFull(err error) error {
	open := a.unanswered()
	if provider.ClassOf(err) != provider.ContextExhausted || open < 0 || a.boundary(0) > 0 {
		return err
	}
	window := "the model's window"
	if n := a.info.ContextLength; n > 0 {
		window = fmt.Sprintf("the window of %d tokens", n)
	}
	return fmt.Errorf(
		"%w; nothing is left to compact: the input (about %d tokens), the system prompt and the tools are too "+
			"long for %s",
		err,
		a.tokens.real(a.hist.msgs[open].Tokens),
		window,
	)
}

// beforeCompaction asks the handlers whether they want none. What they say is for
// the caller to put after the compaction, which it would not survive.
func (a *Agent) beforeCompaction(ctx context.Context, forced bool, keep int) (said []lifecycle.Said, skip bool) {
	if !a.opts.Pipeline.Has(lifecycle.BeforeCompaction) {
		return nil, false
	}
	snap := a.Snapshot()
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.BeforeCompactionContext{
		Context: snap, Forced: forced, TokensUsed: snap.Tokens.Estimate, ContextPercent: snap.Tokens.Percent,
		MessageCount: snap.MessageCount, KeepLast: keep,
	}, nil)
	a.tell(out.Outcome)
	return out.Said, out.Skip
}

// compact replaces all but the last keep messages, and what the user asked for in the
// turn that runs, by a summary.
func (a *Agent) compact(ctx context.Context, keep int) (err error) {
	cut := a.boundary(keep)
	if cut == 0 {
		return ErrNothingToCompact
	}
	before := len(a.hist.msgs)
	var summary string
	defer func() {
		data := &sdk.AfterCompactionContext{PreMessages: before}
		if err == nil {
			data.Success, data.PostMessages, data.SummaryLength = true, len(a.hist.msgs), len(summary)
		}
		if a.opts.Pipeline.Has(lifecycle.AfterCompaction) {
			data.Context = a.Snapshot()
			out := lifecycle.Emit(ctx, a.opts.Pipeline, data, nil)
			a.tell(out.Outcome)
			a.say(out.Said)
		}
	}()
	old := a.hist.msgs[:cut]
	open := a.unanswered()
	stays := open >= 0 && open < cut
	if stays { // The summary is about what was done for it: its beginning will do.
		const enough = 2000
		old = slices.Clone(old)
		if m := &old[open]; len(m.Content) > enough {
			m.Content = cutUTF8(m.Content, enough) + " […]"
		}
	}
	summary, err = a.summarise(ctx, old)
	if err != nil {
		return err
	}
	text := summaryTag + summary + "\n</summary>"
	if todos := a.opts.Todo.String(); todos != "" {
		text += "\n\nTodos:\n" + todos
	}
	if stays {
		text += "\n\nThe next message is what the user asked for last. What the summary says about it has been " +
			"done already: continue from there."
	}
	msgs := []message.Message{userText(text, sdk.TypeNormal)}
	msgs[0].CreatedAt = time.Now()
	if stays {
		msgs = append(msgs, a.hist.msgs[open])
	}
	unseen := a.unseen()
	for i, m := range a.hist.msgs[cut:] {
		if a.outlives(cut+i, unseen) {
			msgs = append(msgs, m)
		}
	}
	a.replace(msgs)
	a.mu.Lock()
	a.stats.compactions++
	a.mu.Unlock()
	a.emit(Event{Kind: Compacted, Text: fmt.Sprintf("compacted %d messages into %d", before, len(a.hist.msgs))})
	return nil
}

// unseen is the index of the first message that the model has not answered yet.
func (a *Agent) unseen() int {
	for i, m := range slices.Backward(a.hist.msgs) {
		if m.Role == message.Assistant && m.Type == sdk.TypeNormal {
			return i + 1
		}
	}
	return 0
}

// outlives reports whether a message at the end of the history is kept as it is:
// what people and the model said, and what the model has yet to see.
func (a *Agent) outlives(i, unseen int) bool {
	m := &a.hist.msgs[i]
	return m.Type == sdk.TypeNormal || i >= unseen && m.Sent()
}

// unanswered is the index of what the user asked for and has no answer yet, because the
// turn still runs or was broken off; -1 if there is nothing. It is never summarised.
func (a *Agent) unanswered() int {
	running := a.turn.iteration > 0 && !a.turn.finished
	for i, m := range slices.Backward(a.hist.msgs) {
		switch {
		case m.Type != sdk.TypeNormal:
		case isSummary(&m), !running && m.Role == message.Assistant && len(m.ToolCalls) == 0:
			return -1
		case m.Role == message.User:
			return i
		default:
			running = true
		}
	}
	return -1
}

// boundary is the index of the first message that stays when keep messages are
// kept, besides what the user asked for; 0 if there is nothing before it worth a
// summary. A result is never separated from its call.
func (a *Agent) boundary(keep int) int {
	cut, unseen := len(a.hist.msgs), a.unseen()
	for kept := 0; kept < keep && cut > 0; {
		if cut--; a.outlives(cut, unseen) {
			kept++
		}
	}
	for cut < len(a.hist.msgs) && cut > 0 && a.hist.msgs[cut].Role == message.Tool {
		cut--
	}
	open := a.unanswered()
	for i := range a.hist.msgs[:cut] {
		if m := &a.hist.msgs[i]; m.Sent() && !isSummary(m) && i != open {
			return cut
		}
	}
	return 0
}

// summarise has a model write the summary of msgs. If the provider says that the
// text is too long, less of every tool result is shown.
func (a *Agent) summarise(ctx context.Context, msgs []message.Message) (summary string, err error) {
	c := a.profile.Settings.Compaction
	model := a.profile.Model
	if c.Model != nil {
		model = *c.Model
	}
	for _, length := range append([]int{c.ResultLength}, c.Retries...) {
		summary, err = a.complete(
			ctx,
			model,
			cmpOr(c.Prompt, summaryPrompt),
			"Summarise this conversation:\n\n"+transcript(msgs, length),
		)
		if provider.ClassOf(err) != provider.ContextExhausted {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	return summary, nil
}

// complete asks a model for one text outside the conversation.
func (a *Agent) complete(ctx context.Context, m Model, system, prompt string) (string, error) {
	resp, err := m.Client.Chat(a.telling(ctx), &provider.Request{
		Model:      m.Name,
		System:     system,
		Generation: m.Generation,
		Messages:   []message.Message{userText(prompt, sdk.TypeNormal)},
	}, nil)
	if err != nil {
		return "", err
	}
	a.spend(resp.Usage)
	text := strings.TrimSpace(resp.Message.Content)
	if text == "" {
		return "", errors.New("the model answered nothing")
	}
	return text, nil
}

// spend counts what a model call cost.
func (a *Agent) spend(u provider.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.in += u.Input
	a.stats.out += u.Output
}

// transcript renders messages as text, with tool results cut to limit characters.
func transcript(msgs []message.Message, limit int) string {
	var b strings.Builder
	for i := range msgs {
		m := &msgs[i]
		if !m.Sent() {
			continue
		}
		text := m.Content
		if m.Role == message.Tool {
			if limit >= 0 && len(text) > limit {
				text = cutUTF8(text, limit) + " […]"
			}
			fmt.Fprintf(&b, "[result of %s] %s\n", m.ToolName, text)
			continue
		}
		if text != "" {
			fmt.Fprintf(&b, "[%s] %s\n", m.Role, text)
		}
		for _, c := range m.ToolCalls {
			args := tool.ArgsJSON(c.Arguments)
			if limit >= 0 && len(args) > 2*limit {
				args = cutUTF8(args, 2*limit) + " […]"
			}
			fmt.Fprintf(&b, "[%s calls %s] %s\n", m.Role, c.Name, args)
		}
	}
	return b.String()
}

// cutUTF8 returns at most n bytes from the beginning of s, whole characters only.
func cutUTF8(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutUTF8Tail returns at most n bytes from the end of s, whole characters only.
func cutUTF8Tail(s string, n int) string {
	if n >= len(s) {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
