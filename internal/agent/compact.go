package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// summaryPrompt tells a model how to summarise a conversation.
const summaryPrompt = `You summarise a conversation between a person and a coding agent so that the agent can continue from your summary alone.
Keep: what the person wants and the rules they gave; decisions and why; files that were read, created or changed, with what matters about them; commands and their outcome; errors and how they were solved; what is finished and what comes next.
Leave out: pleasantries, full file contents, anything superseded. Write short factual sentences under headings. Answer with the summary only.`

// ErrNothingToCompact says that the history is too short to be summarised.
var ErrNothingToCompact = errors.New("nothing to compact: the conversation is not longer than what is kept")

// Compact makes the history shorter because the person asked for it.
func (a *Agent) Compact(ctx context.Context) error {
	keep := a.profile.Settings.Compaction.KeepLast
	if skip := a.beforeCompaction(ctx, true, keep); skip {
		return nil
	}
	// A short conversation is compacted as far as it goes.
	for ; keep > 0 && a.boundary(keep) == 0; keep /= 2 {
	}
	return a.compact(ctx, keep)
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
	if !full || a.boundary(c.KeepLast) == 0 {
		return nil
	}
	if a.beforeCompaction(ctx, false, c.KeepLast) {
		return nil
	}
	if err := a.compact(ctx, c.KeepLast); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.Notice("compaction", fmt.Sprintf("the conversation could not be compacted: %v", err))
	}
	return nil
}

// recoverSpace compacts after the provider refused a request as too long,
// keeping less and less until it works. It reports whether it did.
func (a *Agent) recoverSpace(ctx context.Context) bool {
	const attempts = 5
	keep := a.profile.Settings.Compaction.KeepLast
	if a.beforeCompaction(ctx, false, keep) {
		return false
	}
	for range attempts {
		err := a.compact(ctx, keep)
		if err == nil {
			return true
		}
		if ctx.Err() != nil || keep == 0 {
			return false
		}
		a.opts.Logger.Warn("recovery compaction failed", "keep", keep, "error", err)
		keep /= 2
	}
	return false
}

// beforeCompaction asks the handlers; true means that they want none.
func (a *Agent) beforeCompaction(ctx context.Context, forced bool, keep int) (skip bool) {
	if !a.opts.Pipeline.Has(lifecycle.BeforeCompaction) {
		return false
	}
	snap := a.Snapshot()
	out := a.opts.Pipeline.Dispatch(ctx, lifecycle.Event{Moment: lifecycle.BeforeCompaction, Data: &sdk.BeforeCompactionContext{
		Context: snap, Forced: forced, TokensUsed: snap.Tokens.Estimate, ContextPercent: snap.Tokens.Percent,
		MessageCount: snap.MessageCount, KeepLast: keep,
	}}, nil)
	a.tell(out)
	a.say(out.Said)
	return out.Skip
}

// compact replaces all but the last keep messages by a summary.
func (a *Agent) compact(ctx context.Context, keep int) (err error) {
	before := len(a.hist.msgs)
	var summary string
	defer func() {
		data := &sdk.AfterCompactionContext{PreMessages: before}
		if err == nil {
			data.Success, data.PostMessages, data.SummaryLength = true, len(a.hist.msgs), len(summary)
		}
		if a.opts.Pipeline.Has(lifecycle.AfterCompaction) {
			data.Context = a.Snapshot()
			out := a.opts.Pipeline.Dispatch(ctx, lifecycle.Event{Moment: lifecycle.AfterCompaction, Data: data}, nil)
			a.tell(out)
			a.say(out.Said)
		}
	}()
	cut := a.boundary(keep)
	if cut == 0 {
		return ErrNothingToCompact
	}
	summary, err = a.summarise(ctx, a.hist.msgs[:cut])
	if err != nil {
		return err
	}
	text := "<summary>\nThe conversation so far, summarised because it became too long:\n\n" + summary + "\n</summary>"
	if todos := a.opts.Todo.String(); todos != "" {
		text += "\n\nTodos:\n" + todos
	}
	msgs := []message.Message{userText(text, sdk.TypeNormal)}
	for _, m := range a.hist.msgs[cut:] {
		if m.Type == sdk.TypeNormal {
			msgs = append(msgs, m)
		}
	}
	if err := a.replace(msgs); err != nil {
		return err
	}
	a.mu.Lock()
	a.stats.compactions++
	a.mu.Unlock()
	a.emit(Event{Kind: Compacted, Text: fmt.Sprintf("compacted %d messages into %d", before, len(a.hist.msgs))})
	return nil
}

// boundary is the index of the first message that stays when keep messages are
// kept; 0 if there is nothing before it worth a summary. A result is never
// separated from its call.
func (a *Agent) boundary(keep int) int {
	cut := max(len(a.hist.msgs)-keep, 0)
	for cut < len(a.hist.msgs) && cut > 0 && a.hist.msgs[cut].Role == message.Tool {
		cut--
	}
	if cut == 1 && strings.HasPrefix(a.hist.msgs[0].Content, "<summary>") {
		return 0
	}
	return cut
}

// summarise has a model write the summary of msgs.
func (a *Agent) summarise(ctx context.Context, msgs []message.Message) (string, error) {
	c := a.profile.Settings.Compaction
	model := a.profile.Model
	if c.Model != nil {
		model = *c.Model
	}
	resp, err := model.Client.Chat(ctx, &provider.Request{
		Model: model.Name, System: cmpOr(c.Prompt, summaryPrompt), Generation: model.Generation,
		Messages: []message.Message{userText("Summarise this conversation:\n\n"+transcript(msgs, c.ResultLength), sdk.TypeNormal)},
	}, nil)
	if err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	a.mu.Lock()
	a.stats.in += resp.Usage.Input
	a.stats.out += resp.Usage.Output
	a.mu.Unlock()
	if strings.TrimSpace(resp.Message.Content) == "" {
		return "", errors.New("summary: the model answered nothing")
	}
	return strings.TrimSpace(resp.Message.Content), nil
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
			if limit > 0 && len(text) > limit {
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
			if limit > 0 && len(args) > 2*limit {
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
