// Package script is a model that plays a YAML file: for demonstrations and for
// tests of anything around a model. It talks to no server and understands nothing
// of what it is told.
//
// The smallest script:
//
//	turns:
//	  - text: Hello!
//
// Every turn answers one model call, in order. After the last one the call
// fails, unless `loop: true` starts the script again.
//
//	model:                        # optional: what the model says about itself
//	  name: llama3:8b
//	  family: llama
//	  parameter_count: 8000000000
//	  context_length: 8192
//	  capabilities: [tools, vision, thinking]
//	loop: false
//	turns:
//	  - expect:                   # optional: what the request must look like
//	      contains: [fix the bug] # somewhere in system prompt or messages
//	      not_contains: [secret]
//	      last: [fix]             # in the last message
//	      last_role: user         # user, assistant or tool
//	      tools: [Read]           # offered; [] means that none may be
//	      not_tools: [Bash]
//	      messages: 1             # how many; likewise images and thoughts
//	    thinking: Let me look.
//	    text: I read the file first.
//	    calls:
//	      - name: Read
//	        arguments: {path: main.go}
//	      - name: Read
//	        raw: '{"path": '      # instead of arguments: text that is broken JSON
//	        id: mine              # default call_<turn>_<number>
//	    usage: {input: 1200, output: 40} # default: about a quarter of the characters
//	    stop: tool_calls          # default: tool_calls with calls, else stop
//	  - error: {class: rate_limit, status: 429, message: slow down, retry_after: 2s}
//	    repeat: 3                 # the same answer three times
//	  - text: This stream breaks
//	    cut: true                 # after the text: an error of class network
//	  - text: Slowly
//	    delay: 200ms              # before the first piece
//	    chunk: 3                  # bytes per piece; default: whole words
//	    chunk_delay: 20ms         # between pieces
//	  - when: summarise           # plays whenever the last user message contains this
//	    text: We talked.
//
// Turns with `when` are not part of the sequence: they are tried first, in the
// order of the file, and may play any number of times, or `repeat` times. Text and
// thinking of a turn with `error` are streamed before it fails.
package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/wording"
)

// format names this client in errors and thoughts.
const format = "script"

// maxSize bounds a script file.
const maxSize = 16 << 20

// Client plays one script. Everything that shares a Client shares its position
// in the script.
type Client struct {
	name     string
	info     provider.ModelInfo
	loop     bool
	sequence []*turn
	answers  []*turn // Turns with `when`.

	mu       sync.Mutex
	position int           // Index of the turn that plays next.
	rounds   int           // How often it has played in a row.
	played   map[*turn]int // How often each has played at all.
}

var _ provider.Client = (*Client)(nil)

// New reads a script. The error names every mistake, each with its line.
func New(src []byte) (*Client, error) { return load(format, src) }

// Load reads the script in the file path. The error names every mistake, each
// with file and line.
func Load(path string) (*Client, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("script %s: not a file", path)
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("script %s: larger than %d MB", path, maxSize>>20)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return load(path, src)
}

// Noop returns a client that answers every call with "[noop]" at no cost.
func Noop() *Client {
	return &Client{
		name:     "noop",
		loop:     true,
		info:     provider.ModelInfo{Name: "noop"},
		sequence: []*turn{{Text: "[noop]", Usage: &usage{}, number: 1}},
		played:   map[*turn]int{},
	}
}

func load(name string, src []byte) (*Client, error) {
	f, turns, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	c := &Client{name: name, loop: f.Loop, played: map[*turn]int{}}
	for _, t := range turns {
		if t.When != "" {
			c.answers = append(c.answers, t)
		} else {
			c.sequence = append(c.sequence, t)
		}
	}
	c.info = provider.ModelInfo{
		Name:          format,
		Family:        format,
		ContextLength: 128_000,
		Capabilities:  []string{provider.Vision, provider.Tools, provider.Thinking, provider.ThinkingLevels},
	}
	if m := f.Model; m != nil {
		c.info = provider.ModelInfo(*m)
		if c.info.Name == "" {
			c.info.Name = format
		}
	}
	return c, nil
}

// Models lists the one model of the script.
func (c *Client) Models(context.Context) ([]provider.ModelInfo, error) {
	return []provider.ModelInfo{c.Model(context.Background(), "")}, nil
}

// Model describes the model of the script under the given name; an empty name
// stands for the script's own.
func (c *Client) Model(_ context.Context, name string) provider.ModelInfo {
	info := c.info
	info.Capabilities = slices.Clone(info.Capabilities)
	if name != "" {
		info.Name = name
	}
	return info
}

// Unplayed counts the turns of the sequence that have not been asked for: what a
// test looks at when its conversation is over.
func (c *Client) Unplayed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.sequence {
		if c.played[t] == 0 {
			n++
		}
	}
	return n
}

// Chat plays the next turn. A request that does not meet the expectations of its
// turn fails and leaves the script where it was.
func (c *Client) Chat(ctx context.Context, req *provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, round, err := c.next(req)
	if err != nil {
		return nil, err
	}
	if on == nil {
		on = func(provider.Delta) {}
	}
	if err := t.stream(ctx, on); err != nil {
		return nil, err
	}
	switch {
	case t.Cut:
		return nil, &provider.Error{
			Class:    provider.Network,
			Provider: format,
			Message:  "stream ended before its closing event",
		}
	case t.Error != nil:
		return nil, t.Error.err()
	}
	return t.response(req, round), nil
}

// next chooses the turn for a request and counts it as played.
func (c *Client) next(req *provider.Request) (*turn, int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	said := lastWords(req)
	for _, t := range c.answers {
		if (t.Repeat == 0 || c.played[t] < t.Repeat) && slices.ContainsFunc(said, t.matches) {
			if err := c.check(t, req); err != nil {
				return nil, 0, err
			}
			c.played[t]++
			return t, c.played[t], nil
		}
	}
	if c.position >= len(c.sequence) {
		return nil, 0, c.exhausted()
	}
	t := c.sequence[c.position]
	if err := c.check(t, req); err != nil {
		return nil, 0, err
	}
	c.played[t]++
	if c.rounds++; c.rounds >= t.Repeat {
		c.rounds = 0
		c.position++
		if c.loop {
			c.position %= len(c.sequence)
		}
	}
	return t, c.played[t], nil
}

func (c *Client) exhausted() error {
	text := fmt.Sprintf("script %s: no turn is left, it has %s", c.name, wording.Count(len(c.sequence), "turn"))
	if len(c.answers) > 0 {
		text += fmt.Sprintf(
			", and none of its %s with `when` matches the last user message",
			wording.Count(len(c.answers), "turn"),
		)
	}
	return &provider.Error{Provider: format, Message: text + " (add one, or set `loop: true`)"}
}

// check compares a request with the expectations of its turn.
func (c *Client) check(t *turn, req *provider.Request) error {
	if t.Expect == nil {
		return nil
	}
	failed := t.Expect.check(req)
	if len(failed) == 0 {
		return nil
	}
	return &provider.Error{
		Provider: format,
		Message: fmt.Sprintf("%s:%d: turn %d: expect: %s; %s",
			c.name, t.line, t.number, strings.Join(failed, "; "), describeLast(req)),
	}
}

func (t *turn) matches(text string) bool { return strings.Contains(text, t.When) }

// lastWords gives the texts that `when` looks at: the last message of the
// user, and what was injected in the user's name after it.
func lastWords(req *provider.Request) []string {
	var out []string
	for _, m := range slices.Backward(req.Messages) {
		if m.Role != provider.RoleUser {
			continue
		}
		out = append(out, m.Content)
		if m.Type != provider.TypeSynthetic {
			break
		}
	}
	return out
}

// stream waits and hands out thinking and text piece by piece.
func (t *turn) stream(ctx context.Context, on func(provider.Delta)) error {
	if err := sleep(ctx, t.Delay); err != nil {
		return err
	}
	first := true
	send := func(d provider.Delta) error {
		if !first {
			if err := sleep(ctx, t.ChunkDelay); err != nil {
				return err
			}
		}
		first = false
		on(d)
		return ctx.Err()
	}
	for _, piece := range t.pieces(t.Thinking) {
		if err := send(provider.Delta{Thinking: piece}); err != nil {
			return err
		}
	}
	for _, piece := range t.pieces(t.Text) {
		if err := send(provider.Delta{Text: piece}); err != nil {
			return err
		}
	}
	return nil
}

// pieces cuts text into deltas, never inside a character.
func (t *turn) pieces(text string) []string {
	if t.Chunk == 0 {
		return words(text)
	}
	var out []string
	for text != "" {
		n := min(t.Chunk, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// response builds the answer; round tells how often the turn has been played.
func (t *turn) response(req *provider.Request, round int) *provider.Response {
	r := &provider.Response{Stop: t.Stop}
	r.Message.Role = provider.RoleAssistant
	r.Message.Type = provider.TypeNormal
	r.Message.Content = t.Text
	r.Message.Thinking = t.Thinking
	if t.Thinking != "" {
		r.Message.Thoughts = []provider.Thought{{
			Provider: format, Text: t.Thinking, Signature: fmt.Sprintf("script:%d", t.number),
		}}
	}
	output := len(t.Text) + len(t.Thinking)
	for _, c := range t.Calls {
		id := c.ID
		if c.auto && round > 1 {
			id = fmt.Sprintf("%s_%d", id, round)
		}
		args := map[string]any{}
		if err := json.Unmarshal([]byte(c.json), &args); err != nil || args == nil {
			args = map[string]any{}
			if r.Malformed == nil {
				r.Malformed = map[string]string{}
			}
			r.Malformed[id] = c.json
		}
		r.Message.ToolCalls = append(r.Message.ToolCalls, provider.ToolCall{ID: id, Name: c.Name, Arguments: args})
		output += len(c.Name) + len(c.json)
	}
	if r.Stop == "" {
		r.Stop = "stop"
		if len(t.Calls) > 0 {
			r.Stop = "tool_calls"
		}
	}
	if t.Usage != nil {
		r.Usage = provider.Usage{Input: t.Usage.Input, Output: t.Usage.Output}
	} else {
		r.Usage = provider.Usage{Input: tokens(inputSize(req)), Output: tokens(output)}
	}
	return r
}

func (f *failure) err() *provider.Error {
	e := &provider.Error{
		Class: f.Class, Provider: format, Status: f.Status, Message: f.Message, RetryAfter: f.RetryAfter,
	}
	if e.Class == "" {
		e.Class = failClass(f.Status)
	}
	if e.Message == "" {
		e.Message = "scripted error"
	}
	return e
}

// inputSize counts the characters of a request.
func inputSize(req *provider.Request) int {
	n := len(req.System)
	for i := range req.Messages {
		m := &req.Messages[i]
		n += len(m.Content) + len(m.Thinking)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(argsJSON(c.Arguments))
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

// tokens estimates: about four characters each.
func tokens(size int) int { return (size + 3) / 4 }

func argsJSON(args map[string]any) []byte {
	b, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	return b
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
