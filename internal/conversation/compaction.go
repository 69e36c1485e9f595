package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// ErrNothingToCompact says that the history is too short to be summarised.
var ErrNothingToCompact = errors.New("nothing to compact: a summary would not make the conversation shorter")

// Threshold is when a conversation is compacted by itself.
type Threshold struct {
	Percent float64 // Of the window.
	Tokens  int     // Wins over Percent; 0 does not count.
}

// Exceeded reports whether a conversation is that full.
func (t Threshold) Exceeded(s sdk.TokenState) bool {
	if t.Tokens > 0 {
		return s.Estimate > t.Tokens
	}
	return s.Max > 0 && t.Percent > 0 && float64(s.Estimate)*100 > t.Percent*float64(s.Max)
}

// Limit is how many tokens there are in all, given the size of the window.
func (t Threshold) Limit(window int) int {
	if t.Tokens > 0 {
		return t.Tokens
	}
	return window
}

// Plan is what a compaction would do. It holds until the history changes.
type Plan struct {
	msgs    []message.Message
	cut     int // The messages before it are summarised.
	request int // Index of what the user waits for, which is never summarised; -1 if there is nothing.
	unseen  int // Index of the first message that the model has not answered yet.
	tokens  *Tokens
}

// Plan works out a compaction that keeps the last keep messages, and what the user asked
// for in the turn that runs or was broken off. A result is never separated from its call.
func (c *Conversation) Plan(keep int) Plan {
	running := c.Turn.Running()
	c.History.mu.Lock()
	defer c.History.mu.Unlock()
	p := Plan{msgs: slices.Clip(c.History.msgs), tokens: &c.Tokens}
	p.request, p.unseen = requestIn(p.msgs, running), unseenIn(p.msgs)
	p.cut = len(p.msgs)
	for kept := 0; kept < keep && p.cut > 0; {
		if p.cut--; p.stays(p.cut) {
			kept++
		}
	}
	for p.cut < len(p.msgs) && p.cut > 0 && p.msgs[p.cut].Role == message.Tool {
		p.cut--
	}
	if n, _ := p.summarised(); n == 0 {
		p.cut = 0
	}
	return p
}

// PlanShorter is Plan for a user who wants the conversation to be shorter: it keeps less
// where keep messages are too many for that. The plan is empty if nothing helps.
func (c *Conversation) PlanShorter(keep int) Plan {
	for ; ; keep /= 2 {
		if p := c.Plan(keep); p.Shortens() {
			return p
		}
		if keep <= 1 {
			return Plan{}
		}
	}
}

// Empty reports whether there is nothing to summarise.
func (p *Plan) Empty() bool { return p.cut == 0 }

// Shortens reports whether the summary makes the conversation shorter: of several new
// messages, or of one that is longer than a summary is.
func (p *Plan) Shortens() bool {
	const summary = 500 // Tokens.
	n, rough := p.summarised()
	return n > 1 || n > 0 && p.tokens.Real(rough) > summary
}

// MakesRoom reports whether what is summarised takes enough of limit tokens. Where the
// prompt itself fills a small window, summarising again and again would not help.
func (p *Plan) MakesRoom(limit int) bool {
	rough := 0
	for i := range p.msgs[:p.cut] {
		if i != p.request {
			rough += p.msgs[i].Tokens
		}
	}
	return p.cut > 0 && p.tokens.Real(rough)*20 >= limit
}

// Request is the size in tokens of what the user waits for; false if that is nothing.
func (p *Plan) Request() (tokens int, waiting bool) {
	if p.request < 0 {
		return 0, false
	}
	return p.tokens.Real(p.msgs[p.request].Tokens), true
}

// summarised counts the messages that are new in a summary, and their rough size.
func (p *Plan) summarised() (n, rough int) {
	for i := range p.msgs[:p.cut] {
		if m := &p.msgs[i]; m.Sent() && !isSummary(m) && i != p.request {
			n++
			rough += m.Tokens
		}
	}
	return n, rough
}

// stays reports whether a message at the end of the history is kept as it is: what the
// user and the model said, and what the model has yet to see.
func (p *Plan) stays(i int) bool {
	m := &p.msgs[i]
	return m.Type == sdk.TypeNormal || i >= p.unseen && m.Sent()
}

// keepsRequest reports whether what the user waits for lies among what is summarised.
func (p *Plan) keepsRequest() bool { return p.request >= 0 && p.request < p.cut }

// Transcript renders what is to be summarised as text, with tool results cut to limit
// characters; less than 0 is no limit.
func (p *Plan) Transcript(limit int) string {
	var b strings.Builder
	for i := range p.msgs[:p.cut] {
		m := &p.msgs[i]
		switch {
		case !m.Sent():
		case m.Role == message.Tool:
			fmt.Fprintf(&b, "[result of %s] %s\n", m.ToolName, shortened(m.Content, limit))
		case i == p.request: // The summary is about what was done for it: its beginning will do.
			transcribe(&b, m, shortened(m.Content, 2000), limit)
		default:
			transcribe(&b, m, m.Content, limit)
		}
	}
	return b.String()
}

// transcribe writes what somebody said and called.
func transcribe(b *strings.Builder, m *message.Message, text string, limit int) {
	if text != "" {
		fmt.Fprintf(b, "[%s] %s\n", m.Role, text)
	}
	for _, c := range m.ToolCalls {
		args := string(jsontext.AppendObject(nil, c.Arguments))
		fmt.Fprintf(b, "[%s calls %s] %s\n", m.Role, c.Name, shortened(args, 2*limit))
	}
}

// shortened cuts a text to limit bytes; less than 0 is no limit.
func shortened(text string, limit int) string {
	if limit < 0 || len(text) <= limit {
		return text
	}
	return wording.Head(text, limit) + " […]"
}

// summaryTag is how a summary begins.
const summaryTag = "<summary>\nThe conversation so far, summarised because it became too long:\n\n"

// isSummary reports whether a message is what a compaction left of others.
func isSummary(m *message.Message) bool {
	return m.Role == message.User && strings.HasPrefix(m.Content, summaryTag)
}

// Result is the history after the compaction. todos are the open ones; empty if there are
// none.
func (p *Plan) Result(summary, todos string) []message.Message {
	text := summaryTag + summary + "\n</summary>"
	if todos != "" {
		text += "\n\nTodos:\n" + todos
	}
	if p.keepsRequest() {
		text += "\n\nThe next message is what the user asked for last. What the summary says about it has been " +
			"done already: continue from there."
	}
	msgs := []message.Message{{Message: sdk.Message{
		Role: message.User, Content: text, Type: sdk.TypeNormal, CreatedAt: time.Now(),
	}}}
	if p.keepsRequest() {
		msgs = append(msgs, p.msgs[p.request])
	}
	for i := p.cut; i < len(p.msgs); i++ {
		if p.stays(i) {
			msgs = append(msgs, p.msgs[i])
		}
	}
	return msgs
}

// unseenIn is the index of the first message that the model has not answered yet.
func unseenIn(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.Assistant && m.Type == sdk.TypeNormal {
			return i + 1
		}
	}
	return 0
}

// requestIn is the index of what the user asked for and has no answer yet, because the turn
// still runs or was broken off; -1 if there is nothing.
func requestIn(msgs []message.Message, running bool) int {
	for i, m := range slices.Backward(msgs) {
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
