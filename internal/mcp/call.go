package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idelchi/aura/internal/tool"
)

// Bounds of one result.
const (
	maxText     = 1 << 20
	maxImages   = 20
	maxProgress = 500 // Lines of live output.
)

// running is a call that a server works on.
type running struct {
	ctx   context.Context
	token string
	limit time.Duration

	mu     sync.Mutex
	timer  *time.Timer
	output func(string) // nil: nobody listens, or the call is over.
	lines  int
}

// end stops the clock and the live output: nothing of it comes after the result.
func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.output = nil
}

// show passes a line of live output on, up to a limit.
func (r *running) show(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines++; r.output != nil && r.lines <= maxProgress {
		r.output(line)
	}
}

// pause stops the clock while a user thinks.
func (r *running) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
}

// resume gives the server its time again.
func (r *running) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Reset(r.limit)
}

// call runs a tool. A server that is dead is connected again, once.
func (c *conn) call(ctx context.Context, name string, call tool.Call) (tool.Result, error) {
	l, err := c.alive(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	res, err := c.once(ctx, l, name, call)
	// The server forgot the session and did nothing: it is safe to ask again.
	if errors.Is(err, protocol.ErrSessionMissing) {
		if err := c.reconnect(ctx, l); err != nil {
			return tool.Result{}, err
		}
		if l, err = c.alive(ctx); err != nil {
			return tool.Result{}, err
		}
		res, err = c.once(ctx, l, name, call)
	}
	if err != nil {
		return tool.Result{}, c.failure(ctx, l, fmt.Sprintf("tool %q", name), err)
	}
	return convert(res)
}

// errTimeout ends a call that took too long.
var errTimeout = errors.New("timed out")

// once makes one call under its deadline.
func (c *conn) once(ctx context.Context, l *life, name string, call tool.Call) (*protocol.CallToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &running{ctx: ctx, output: call.Output, limit: c.server.callTimeout()}
	r.timer = time.AfterFunc(r.limit, func() { cancel(errTimeout) })
	defer r.end()
	c.register(r, call.ID)
	defer c.unregister(r)

	params := &protocol.CallToolParams{Name: name, Arguments: call.Args}
	params.SetProgressToken(r.token)
	type answer struct {
		res *protocol.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := l.session.CallTool(ctx, params)
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return a.res, a.err
	case <-l.over:
		select { // The answer may have come just before the end.
		case a := <-done:
			return a.res, a.err
		case <-time.After(time.Second):
			return nil, protocol.ErrConnectionClosed
		}
	case <-ctx.Done():
		// The SDK tells the server; a server that does not even read is not waited for.
		select {
		case <-done:
		case <-time.After(100 * time.Millisecond):
		}
		return nil, context.Cause(ctx)
	}
}

func (c *conn) register(r *running, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; ; i++ {
		r.token = fmt.Sprintf("%s-%d", id, i)
		if !slices.ContainsFunc(c.calls, func(x *running) bool { return x.token == r.token }) {
			break
		}
	}
	c.calls = append(c.calls, r)
}

func (c *conn) unregister(r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = slices.DeleteFunc(c.calls, func(x *running) bool { return x == r })
}

// failure names the server in an error, and says what became of it.
func (c *conn) failure(ctx context.Context, l *life, what string, err error) error {
	rpc, isAnswer := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("MCP server %s: %s timed out after %s", c.server.Name, what, c.server.callTimeout())
	case ctx.Err() != nil:
		return ctx.Err()
	case isAnswer:
		return fmt.Errorf("MCP server %s: %s: %s", c.server.Name, what, clip(rpc.Message, 2000))
	}
	if l.process != nil && l.process.within(200*time.Millisecond) {
		return fmt.Errorf(
			"MCP server %s died during %s: %s; the next call starts it again",
			c.server.Name,
			what,
			l.process.ended(),
		)
	}
	return fmt.Errorf("MCP server %s: %s: %s", c.server.Name, what, clip(err.Error(), 2000))
}

// progress shows how far a call is.
func (c *conn) progress(_ context.Context, req *protocol.ProgressNotificationClientRequest) {
	if req.Params == nil {
		return
	}
	token, _ := req.Params.ProgressToken.(string)
	c.mu.Lock()
	i := slices.IndexFunc(c.calls, func(r *running) bool { return r.token == token })
	var r *running
	if i >= 0 {
		r = c.calls[i]
	}
	c.mu.Unlock()
	if r == nil || r.ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("%g", req.Params.Progress)
	if req.Params.Total > 0 {
		text += fmt.Sprintf("/%g", req.Params.Total)
	}
	if m := oneLine(req.Params.Message, 500); m != "" {
		text += " " + m
	}
	r.show(text + "\n")
}

// result collects what a server answered.
type result struct {
	text   strings.Builder
	cut    int // Bytes left out.
	images []tool.Image
}

func (r *result) say(text string) {
	if text == "" {
		return
	}
	if r.text.Len() > 0 && r.text.Len() < maxText {
		r.text.WriteByte('\n')
	}
	keep := text[:min(len(text), max(maxText-r.text.Len(), 0))]
	r.cut += len(text) - len(keep)
	r.text.WriteString(keep)
}

// picture keeps an image that models can see.
func (r *result) picture(kind string, data []byte) bool {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) ||
		len(r.images) >= maxImages ||
		len(data) == 0 {
		return false
	}
	r.images = append(r.images, tool.Image{MediaType: kind, Data: data})
	return true
}

// add takes over one piece of content.
func (r *result) add(content protocol.Content) {
	switch x := content.(type) {
	case *protocol.TextContent:
		r.say(x.Text)
	case *protocol.ImageContent:
		if !r.picture(x.MIMEType, x.Data) {
			r.say(fmt.Sprintf("[image %s, %d bytes, cannot be shown]", oneLine(x.MIMEType, 100), len(x.Data)))
		}
	case *protocol.AudioContent:
		r.say(fmt.Sprintf("[audio %s, %d bytes, cannot be heard]", oneLine(x.MIMEType, 100), len(x.Data)))
	case *protocol.ResourceLink:
		r.say("[resource " + oneLine(x.URI+" "+x.Name+" "+x.Description, 1500) + "]")
	case *protocol.EmbeddedResource:
		if x.Resource != nil {
			r.resource(x.Resource)
		}
	}
}

func (r *result) resource(x *protocol.ResourceContents) {
	switch {
	case x.Text != "":
		r.say(fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", clip(x.URI, 1000), x.Text))
	case !r.picture(x.MIMEType, x.Blob):
		r.say(fmt.Sprintf("[resource %s %s, %d bytes]", clip(x.URI, 1000), oneLine(x.MIMEType, 100), len(x.Blob)))
	}
}

func (r *result) done() tool.Result {
	text := strings.ToValidUTF8(r.text.String(), "\uFFFD")
	if r.cut > 0 {
		text += fmt.Sprintf("\n[… %d bytes left out]", r.cut)
	}
	return tool.Result{Text: text, Images: r.images}
}

// convert makes a result of the answer to a call; an answer that says it is an error
// becomes one.
func convert(res *protocol.CallToolResult) (tool.Result, error) {
	var r result
	for _, content := range res.Content {
		r.add(content)
	}
	// The structured form repeats the text, unless the server gave none.
	if res.StructuredContent != nil && r.text.Len() == 0 {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			r.say(string(text))
		}
	}
	out := r.done()
	if res.IsError {
		if out.Text == "" {
			out.Text = "the tool failed and did not say why"
		}
		return tool.Result{Images: out.Images}, errors.New(out.Text)
	}
	if out.Text == "" && len(out.Images) == 0 {
		out.Text = "(no output)"
	}
	return out, nil
}
