package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/provider"
)

// file is the whole script.
type file struct {
	Model *model    `yaml:"model"`
	Loop  bool      `yaml:"loop"`
	Turns yaml.Node `yaml:"turns"`
}

// model is what the script says about the model it pretends to be.
type model struct {
	Name           string   `yaml:"name"`
	Family         string   `yaml:"family"`
	ParameterCount int64    `yaml:"parameter_count"`
	ContextLength  int      `yaml:"context_length"`
	Capabilities   []string `yaml:"capabilities"`
}

// turn is one answer of the model.
type turn struct {
	When       string        `yaml:"when"`
	Expect     *expect       `yaml:"expect"`
	Thinking   string        `yaml:"thinking"`
	Text       string        `yaml:"text"`
	Calls      []call        `yaml:"calls"`
	Error      *failure      `yaml:"error"`
	Cut        bool          `yaml:"cut"`
	Delay      time.Duration `yaml:"delay"`
	Chunk      int           `yaml:"chunk"`
	ChunkDelay time.Duration `yaml:"chunk_delay"`
	Usage      *usage        `yaml:"usage"`
	Stop       string        `yaml:"stop"`
	Repeat     int           `yaml:"repeat"`

	number int // Position in the file, from 1.
	line   int
}

// call is one tool call of a turn.
type call struct {
	Name      string    `yaml:"name"`
	ID        string    `yaml:"id"`
	Arguments yaml.Node `yaml:"arguments"`
	Raw       *string   `yaml:"raw"`

	json string // The arguments as the model writes them.
	auto bool   // The ID is ours.
}

// failure is the error a turn ends with.
type failure struct {
	Class      provider.Class `yaml:"class"`
	Status     int            `yaml:"status"`
	Message    string         `yaml:"message"`
	RetryAfter time.Duration  `yaml:"retry_after"`
}

type usage struct {
	Input  int `yaml:"input"`
	Output int `yaml:"output"`
}

var (
	classes = []string{
		string(provider.RateLimit), string(provider.Auth), string(provider.Network), string(provider.Server),
		string(provider.ContentFilter), string(provider.CreditExhausted), string(provider.ModelUnavailable),
		string(provider.ContextExhausted),
	}
	capabilities = []string{
		provider.Vision, provider.Tools, provider.Thinking, provider.ThinkingLevels,
		provider.Embedding, provider.Reranking, provider.ContextOverride,
	}
	roles = []string{"user", "assistant", "tool"}
)

// parser collects the mistakes of one script.
type parser struct {
	name string
	errs []error
}

func (p *parser) fail(line int, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s", p.name, max(line, 1), fmt.Sprintf(format, args...)))
}

// parse decodes and checks a script; the error lists every mistake.
func parse(name string, src []byte) (*file, []*turn, error) {
	p := &parser{name: name}

	var root yaml.Node
	if err := yaml.Load(src, &root); err != nil {
		p.decodeError(err, nil)
		return nil, nil, errors.Join(p.errs...)
	}
	plainDates(&root)

	f := &file{}
	if err := root.Load(f, yaml.WithKnownFields()); err != nil {
		p.decodeError(err, paths(&root))
	}
	p.checkModel(f.Model, root.Line)
	turns := p.turns(&f.Turns, &root)
	if len(p.errs) > 0 {
		return nil, nil, errors.Join(p.errs...)
	}
	return f, turns, nil
}

// turns decodes the list of turns. It goes through the nodes itself, because
// the decoder drops empty list items, and line numbers are wanted.
func (p *parser) turns(list, root *yaml.Node) []*turn {
	list = resolve(list)
	switch {
	case list.Kind != 0 && list.Kind != yaml.SequenceNode && list.ShortTag() != "!!null":
		p.fail(list.Line, "turns: expected a list of turns")
		return nil
	case len(list.Content) == 0:
		if len(p.errs) == 0 {
			p.fail(root.Line, "turns: at least one turn is needed, for example `turns: [{text: Hello}]`")
		}
		return nil
	}
	out := make([]*turn, 0, len(list.Content))
	for i, node := range list.Content {
		t := &turn{number: i + 1, line: node.Line}
		if node = resolve(node); node.ShortTag() == "!!null" {
			p.fail(t.line, "turn %d: is empty (an answer without text is `text: \"\"`)", t.number)
			continue
		}
		if err := node.Load(t, yaml.WithKnownFields()); err != nil {
			p.decodeError(err, paths(root))
			continue
		}
		p.checkTurn(t)
		out = append(out, t)
	}
	return out
}

func (p *parser) checkModel(m *model, line int) {
	if m == nil {
		return
	}
	if m.ContextLength < 0 || m.ParameterCount < 0 {
		p.fail(line, "model: context_length and parameter_count cannot be negative")
	}
	for _, c := range m.Capabilities {
		p.oneOf(line, "model: capabilities", c, capabilities)
	}
}

func (p *parser) checkTurn(t *turn) {
	fail := func(format string, args ...any) {
		p.fail(t.line, "turn %d: %s", t.number, fmt.Sprintf(format, args...))
	}
	where := fmt.Sprintf("turn %d: ", t.number)
	if t.Chunk < 0 || t.Repeat < 0 || t.Delay < 0 || t.ChunkDelay < 0 {
		fail("chunk, repeat, delay and chunk_delay cannot be negative")
	}
	if t.Usage != nil && (t.Usage.Input < 0 || t.Usage.Output < 0) {
		fail("usage: cannot be negative")
	}
	if e := t.Error; e != nil {
		if t.Cut {
			fail("cut and error exclude each other: cut is an error of class network")
		}
		if e.Class != "" {
			p.oneOf(t.line, where+"error: class", string(e.Class), classes)
		}
		if e.Status != 0 && (e.Status < 100 || e.Status > 599) {
			fail("error: status: %d is not an HTTP status", e.Status)
		}
		if e.RetryAfter < 0 {
			fail("error: retry_after cannot be negative")
		}
	}
	if (t.Error != nil || t.Cut) && len(t.Calls) > 0 {
		fail("calls: a turn that fails makes no calls (text and thinking are streamed before it fails)")
	}
	if t.Expect != nil && t.Expect.LastRole != "" {
		p.oneOf(t.line, where+"expect: last_role", t.Expect.LastRole, roles)
	}
	ids := map[string]bool{}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.ID == "" {
			c.ID, c.auto = fmt.Sprintf("call_%d_%d", t.number, i+1), true
		}
		if ids[c.ID] {
			fail("calls[%d]: id %q is used twice", i+1, c.ID)
		}
		ids[c.ID] = true
		if c.Name == "" {
			fail("calls[%d]: name is missing", i+1)
		}
		if err := c.encode(); err != nil {
			p.fail(max(t.line, c.Arguments.Line), "turn %d: calls[%d]: %v", t.number, i+1, err)
		}
	}
}

func (p *parser) oneOf(line int, what, got string, allowed []string) {
	if !slices.Contains(allowed, got) {
		p.fail(line, "%s: unknown value %q%s", what, got, hint(got, allowed))
	}
}

// encode fills json, the arguments as a real model would have sent them.
func (c *call) encode() error {
	node := resolve(&c.Arguments)
	if c.Raw != nil {
		if node.Kind != 0 {
			return errors.New("arguments and raw exclude each other")
		}
		c.json = *c.Raw
		return nil
	}
	switch {
	case node.Kind == 0 || node.ShortTag() == "!!null":
		c.json = "{}"
		return nil
	case node.Kind != yaml.MappingNode:
		return errors.New("arguments: expected a mapping (use raw for text that is no JSON object)")
	}
	var v map[string]any
	if err := node.Load(&v); err != nil {
		return fmt.Errorf("arguments: %s", plain(err))
	}
	clean, err := jsonValue(v)
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	b, err := json.Marshal(clean)
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	c.json = string(b)
	return nil
}

// jsonValue turns what YAML can say into what JSON can say.
func jsonValue(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if v[k], err = jsonValue(e); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if out[fmt.Sprint(k)], err = jsonValue(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		for i, e := range v {
			if v[i], err = jsonValue(e); err != nil {
				return nil, err
			}
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v has no form in JSON", v)
		}
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	}
	return v, nil
}

// plainDates makes dates text, as they are in JSON.
func plainDates(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		plainDates(c)
	}
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// failClass is the class a bare HTTP status stands for.
func failClass(status int) provider.Class {
	switch {
	case status == 401 || status == 403:
		return provider.Auth
	case status == 402:
		return provider.CreditExhausted
	case status == 404:
		return provider.ModelUnavailable
	case status == 429:
		return provider.RateLimit
	case status >= 500:
		return provider.Server
	}
	return ""
}

// words splits text after blanks, so that the pieces joined are the text again.
func words(text string) []string {
	var out []string
	for text != "" {
		i := strings.IndexAny(text, " \t\n")
		if i < 0 {
			return append(out, text)
		}
		for i < len(text) && strings.IndexByte(" \t\n", text[i]) >= 0 {
			i++
		}
		out = append(out, text[:i])
		text = text[i:]
	}
	return out
}
