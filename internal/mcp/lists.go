package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idelchi/aura/internal/tool"
)

// Bounds of what a server can make everybody carry around.
const (
	maxTools       = 500
	maxPrompts     = 500
	maxResources   = 1000
	maxDescription = 10_000
)

// catalogue is what a server offers.
type catalogue struct {
	program, protocol, instructions string

	tools   []entry
	skipped []string
	prompts []Prompt
}

// entry is a tool that can be used.
type entry struct {
	name, description string
	schema            *tool.Schema
	effects           []string
}

// read asks a server what it offers. Only that it says nothing about its tools is an
// error.
func (c *conn) read(ctx context.Context, l *life) (catalogue, error) {
	var list catalogue
	init := l.session.InitializeResult()
	if init == nil || init.Capabilities == nil {
		return list, fmt.Errorf("it does not say what it can do")
	}
	list.protocol, list.instructions = init.ProtocolVersion, clip(init.Instructions, maxDescription)
	if init.ServerInfo != nil {
		list.program = oneLine(init.ServerInfo.Name+" "+init.ServerInfo.Version, 100)
	}
	if init.Capabilities.Tools != nil {
		for t, err := range l.session.Tools(ctx, nil) {
			if err != nil {
				return list, fmt.Errorf("its tools cannot be listed: %w", err)
			}
			if len(list.tools)+len(list.skipped) >= maxTools {
				list.skipped = append(
					list.skipped,
					fmt.Sprintf("it has more than %d tools, the rest is left out", maxTools),
				)
				break
			}
			list.add(t, &l.schemas)
		}
	}
	if init.Capabilities.Prompts != nil {
		for p, err := range l.session.Prompts(ctx, nil) {
			if err != nil || len(list.prompts) >= maxPrompts {
				c.hub.opts.Logger.Warn("prompts", "server", c.server.Name, "error", err)
				break
			}
			list.prompts = append(list.prompts, prompt(p))
		}
	}
	return list, nil
}

// add takes over a tool, unless no model could call it.
func (list *catalogue) add(t *protocol.Tool, raw *schemas) {
	if t.Name == "" || slices.ContainsFunc(list.tools, func(e entry) bool { return e.name == t.Name }) {
		list.skipped = append(
			list.skipped,
			fmt.Sprintf("tool %q is left out: it has no name of its own", clip(t.Name, 60)),
		)
		return
	}
	text, err := raw.of(t.Name, t.InputSchema)
	var schema *tool.Schema
	if err == nil {
		schema, err = tool.ParseSchema(text, tool.Open)
	}
	if err != nil {
		list.skipped = append(list.skipped, fmt.Sprintf("tool %q is left out: %v", clip(t.Name, 60), err))
		return
	}
	e := entry{name: t.Name, description: clip(t.Description, maxDescription), schema: schema}
	if e.description == "" {
		e.description = t.Title
	}
	if a := t.Annotations; a != nil {
		if e.description == "" {
			e.description = a.Title
		}
		switch {
		case a.ReadOnlyHint:
			e.effects = []string{"reads only, says the server"}
		case a.DestructiveHint == nil || *a.DestructiveHint:
			e.effects = []string{"may destroy, says the server"}
		}
	}
	list.tools = append(list.tools, e)
}

// changed reads the lists anew. Many changes at once are read together.
func (c *conn) changed(l *life) {
	select {
	case l.pending <- struct{}{}:
	default: // Somebody is about to.
		return
	}
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	go func() {
		<-ready // What changes during the handshake counts too.
		l.refresh <- struct{}{}
		defer func() { <-l.refresh }()
		<-l.pending
		ctx, cancel := context.WithTimeout(c.ctx, c.server.connectTimeout())
		defer cancel()
		list, err := c.read(ctx, l)
		if err != nil {
			if c.ctx.Err() == nil && !l.isOver() {
				c.hub.notice(c.server.Name, "%v", oneLine(err.Error(), 300))
			}
			return
		}
		c.mu.Lock()
		news := slices.DeleteFunc(
			slices.Clone(list.skipped),
			func(s string) bool { return slices.Contains(c.list.skipped, s) },
		)
		if c.live == l {
			c.list = list
		}
		c.mu.Unlock()
		for _, s := range news {
			c.hub.notice(c.server.Name, "%s", s)
		}
		c.hub.version.Add(1)
	}()
}

// tools makes the tools of the server, with the names that it has for them.
func (c *conn) tools(taken map[string]bool) (list []tool.Tool, originals []string) {
	c.mu.Lock()
	entries := c.list.tools
	c.mu.Unlock()
	for _, e := range entries {
		list = append(list, tool.Tool{
			Name:        fullName(c.server.Name, e.name, taken),
			Description: e.description,
			Schema:      e.schema,
			Source:      tool.Source{Kind: "mcp", Name: c.server.Name},
			InProcess:   true,
			SideEffects: e.effects,
			Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
				return c.call(ctx, e.name, call)
			},
		})
		originals = append(originals, e.name)
	}
	return list, originals
}

// resources asks what can be read; a server that does not say has nothing.
func (c *conn) resources(ctx context.Context) []Resource {
	c.mu.Lock()
	l, state := c.live, c.state
	c.mu.Unlock()
	if state != Connected {
		return nil
	}
	init := l.session.InitializeResult()
	if init == nil || init.Capabilities == nil || init.Capabilities.Resources == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.server.connectTimeout())
	defer cancel()
	var list []Resource
	for r, err := range l.session.Resources(ctx, nil) {
		if err != nil || len(list) >= maxResources {
			break
		}
		list = append(
			list,
			Resource{URI: clip(r.URI, 1000), Name: oneLine(r.Name, 200), Description: oneLine(r.Description, 500)},
		)
	}
	for r, err := range l.session.ResourceTemplates(ctx, nil) {
		if err != nil || len(list) >= maxResources {
			break
		}
		list = append(
			list,
			Resource{
				URI:         clip(r.URITemplate, 1000),
				Name:        oneLine(r.Name, 200),
				Description: oneLine(r.Description, 500),
			},
		)
	}
	return list
}

// Prompt is a text that a server makes, for use as a slash command.
type Prompt struct {
	Name        string     `json:"name"` // For example "mcp__notes__summary".
	Original    string     `json:"original"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
}

// Argument is a value that a prompt wants.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

func prompt(p *protocol.Prompt) Prompt {
	out := Prompt{Original: p.Name, Description: oneLine(p.Description, 300)}
	if out.Description == "" {
		out.Description = oneLine(p.Title, 300)
	}
	for _, a := range p.Arguments {
		if a != nil {
			out.Arguments = append(
				out.Arguments,
				Argument{Name: a.Name, Description: oneLine(a.Description, 300), Required: a.Required},
			)
		}
	}
	return out
}

// named gives the prompts their names.
func (list *catalogue) named(server string) []Prompt {
	out := slices.Clone(list.prompts)
	taken := map[string]bool{}
	for i := range out {
		// Commands are found without regard to case.
		out[i].Name = strings.ToLower(fullName(server, out[i].Original, taken))
	}
	return out
}

// Prompts returns the prompts of all servers that were connected once.
func (h *Hub) Prompts() []Prompt {
	var list []Prompt
	for _, c := range h.all() {
		list = append(list, c.status().Prompts...)
	}
	return list
}

// Prompt has the server make the text of a prompt. args are the values of its
// arguments in their order, separated by blanks, the last one taking all that is
// left; or name=value pairs, which may be quoted.
func (h *Hub) Prompt(ctx context.Context, name, args string) (tool.Result, error) {
	for _, c := range h.all() {
		for _, p := range c.status().Prompts {
			if p.Name == name {
				return c.prompt(ctx, p, args)
			}
		}
	}
	return tool.Result{}, fmt.Errorf("no MCP prompt %q", clip(name, 80))
}

func (c *conn) prompt(ctx context.Context, p Prompt, args string) (tool.Result, error) {
	values, err := p.parse(args)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	l, err := c.alive(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.server.callTimeout())
	defer cancel()
	res, err := l.session.GetPrompt(ctx, &protocol.GetPromptParams{Name: p.Original, Arguments: values})
	if err != nil {
		return tool.Result{}, c.failure(ctx, l, fmt.Sprintf("prompt %q", p.Original), err)
	}
	var r result
	for _, m := range res.Messages {
		if m == nil {
			continue
		}
		if m.Role == "assistant" {
			r.say("[assistant]")
		}
		r.add(m.Content)
	}
	return r.done(), nil
}

// parse reads the arguments of a prompt.
func (p Prompt) parse(args string) (map[string]string, error) {
	values := map[string]string{}
	words := split(args)
	named := len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		key, _, ok := strings.Cut(w, "=")
		return !ok || !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == key })
	})
	switch {
	case named:
		for _, w := range words {
			key, value, _ := strings.Cut(w, "=")
			values[key] = value
		}
	case len(words) > 0 && len(p.Arguments) == 0:
		return nil, fmt.Errorf("it takes no arguments")
	default:
		for i, a := range p.Arguments {
			if i >= len(words) {
				break
			}
			if values[a.Name] = words[i]; i == len(p.Arguments)-1 {
				values[a.Name] = strings.Join(words[i:], " ")
			}
		}
	}
	var missing []string
	for _, a := range p.Arguments {
		if _, ok := values[a.Name]; a.Required && !ok {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return values, nil
}

// split separates words at blanks; double quotes keep them together.
func split(text string) []string {
	var words []string
	var b strings.Builder
	quoted, open := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, open = !quoted, true
		case !quoted && (r == ' ' || r == '\t' || r == '\n'):
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}
