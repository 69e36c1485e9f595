// Package conversation is what a session knows: what was said, what it counts, which
// tools it offers, how full the model's window is, and what a compaction would leave of
// it. It is data and the decisions about it. It asks no model, writes no file and tells
// nobody: that is the agent.
package conversation

import (
	"sync"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

// Conversation is the state of one session. It and its parts may be used by several
// goroutines: tools that run side by side count, load and ask for snapshots.
type Conversation struct {
	History History
	Turn    Turn
	Stats   Stats
	Offer   Offer
	Tokens  Tokens
	Label   Label
	Todo    *todo.List

	mu     sync.Mutex
	system string // Rendered system prompt; empty until then.
}

// New returns an empty conversation over a todo list, which the tools for it share; nil is a
// list of its own. match tells whether a pattern stands for the name of a tool.
func New(list *todo.List, match func(pattern, name string) bool) *Conversation {
	if list == nil {
		list = &todo.List{}
	}
	c := &Conversation{Todo: list, Offer: Offer{match: match}}
	c.Stats.Reset()
	return c
}

// Reset makes the conversation a new one. What was learned about the model's tokens and
// the system prompt stay.
func (c *Conversation) Reset() {
	c.History.Replace(nil)
	c.Todo.Replace("", nil)
	c.Stats.Reset()
	c.Offer.Restore(nil)
	c.Tokens.Forget()
	c.Label.Set("", "")
}

// System is the rendered system prompt; empty if it must be rendered.
func (c *Conversation) System() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.system
}

// SetSystem takes over the rendered system prompt; empty makes it be rendered anew.
func (c *Conversation) SetSystem(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.system = text
}

// RoughSize is the rough size of the next request: prompt, history and the tools that are
// offered. done is as for Offer.Offered.
func (c *Conversation) RoughSize(done bool) int { return c.roughSize(c.Offer.Offered(done)) }

func (c *Conversation) roughSize(offered []Tool) int {
	n := len(c.System())/bytesPerToken + c.History.RoughSize()
	for i := range offered {
		n += roughTool(&offered[i])
	}
	return n
}

// TokenState describes how full a context window is; one of 0 is of unknown size.
func (c *Conversation) TokenState(window int, done bool) sdk.TokenState {
	return c.tokenState(window, c.Offer.Offered(done))
}

func (c *Conversation) tokenState(window int, offered []Tool) sdk.TokenState {
	s := sdk.TokenState{Estimate: c.Tokens.Real(c.roughSize(offered)), LastAPI: c.Tokens.Last(), Max: window}
	if s.Max > 0 {
		s.Percent = min(float64(s.Estimate)*100/float64(s.Max), 100)
	}
	return s
}

// Snapshot completes facts, which are what the caller knows, by what the conversation
// knows. What grows with the conversation is shared, not copied.
func (c *Conversation) Snapshot(facts sdk.Context) sdk.Context {
	s, offered := facts, c.Offer.Offered(facts.DoneActive)
	s.Tokens = c.tokenState(s.ModelInfo.ContextLength, offered)
	s.Stats = c.Stats.Snapshot()
	s.MessageCount, s.Turns = c.History.Len(), c.History.Turns()
	s.SessionTitle = c.Label.Title()
	s.LoadedTools = c.Offer.Loaded()
	s.AvailableTools = make([]string, len(offered))
	for i := range offered {
		s.AvailableTools[i] = offered[i].Name
	}
	counts := c.Todo.Counts()
	s.TodoPending, s.TodoInProgress, s.TodoTotal = counts.Pending, counts.InProgress, counts.Total
	c.Turn.complete(&s)
	return s
}

// Reminder is what keeps the model working on open todos; false if there are none.
func (c *Conversation) Reminder() (message.Message, bool) {
	n := c.Todo.Counts()
	if n.Pending+n.InProgress == 0 {
		return message.Message{}, false
	}
	text := "Auto mode is on and these todos are open. Continue with the next one.\n\n" + c.Todo.String()
	return Once("auto", text), true
}

// Once is a message in the name of the user that is sent once and then forgotten.
func Once(source, text string) message.Message {
	return message.Message{
		Message: sdk.Message{Role: message.User, Type: sdk.TypeSynthetic, Content: text},
		Eject:   true, Source: source,
	}
}

// WantsTitle reports whether the first turn is over and the title is nothing better yet
// than the beginning of what the user said in it.
func (c *Conversation) WantsTitle(said string, limit int) bool {
	return limit > 0 && c.Stats.Turns() == 1 && c.Label.Title() == TitleOf(said, limit)
}
