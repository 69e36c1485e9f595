package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/script"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/sdk"
)

// No run of an agent leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup is what a test wants to be different.
type setup struct {
	tools    []tool.Tool          // Besides the built-in ones.
	handlers []lifecycle.Binding  // Bound as plugins.
	rules    guard.Rules          // Tool policy.
	unread   bool                 // Files need not be read before they are written.
	profile  func(*agent.Profile) // Every profile that is resolved.
	options  func(*agent.Options) // Last word.
	store    *session.Store       // nil: a new one.
	dir      string               // Working directory; empty: a new one.
}

// rig is a real agent with the built-in tools and guards, a scripted model and a
// real session log.
type rig struct {
	*agent.Agent
	t     *testing.T
	dir   string
	store *session.Store
	model *recorder
	todo  *todo.List

	mu     sync.Mutex
	events []agent.Event
}

func newRig(t *testing.T, src string, s setup) *rig {
	t.Helper()
	client, err := script.New([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: s.dir, store: s.store, model: &recorder{Client: client, t: t}, todo: &todo.List{}}
	if r.dir == "" {
		r.dir = t.TempDir()
	}
	if r.store == nil {
		r.store = session.Open(t.TempDir())
	}
	log, err := r.store.Create(session.Meta{Workdir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	all := append(tools.New(tools.Options{Todo: r.todo}), s.tools...)
	find := func(name string) (tool.Tool, bool) {
		i := slices.IndexFunc(all, func(x tool.Tool) bool { return x.Name == name })
		if i < 0 {
			return tool.Tool{}, false
		}
		return all[i], true
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.handlers)
	p.Bind(lifecycle.Guard, guard.Bindings(guard.Options{
		Tool: find, Reads: &guard.Reads{}, Approvals: &guard.Approvals{},
		For: func(string, string) (guard.Config, error) {
			return guard.Config{Rules: s.rules, ReadBefore: guard.ReadBefore{Write: !s.unread}}, nil
		},
	}))
	o := agent.Options{
		Pipeline: p, Log: log, Todo: r.todo, Observe: r.observe,
		Place:  agent.Place{Workdir: r.dir, Vars: map[string]string{"A": "b"}},
		Exists: func(name string) bool { _, ok := find(name); return ok },
		Resolve: func(name, mode string) (agent.Profile, error) {
			if name == "nobody" {
				return agent.Profile{}, fmt.Errorf("no agent %q", name)
			}
			name = cmp.Or(name, "main")
			p := agent.Profile{
				Agent:  name,
				Tools:  all,
				Prompt: agent.Prompt{Agent: "You are " + name + "."},
				Model:  agent.Model{Provider: "script", Client: r.model, Name: "tiny"},
				Settings: agent.Settings{
					MaxSteps:   20,
					ReadBefore: !s.unread,
					Compaction: agent.Compaction{Threshold: 80, KeepLast: 4},
				},
			}
			if mode != "none" {
				p.Mode = mode
			}
			if s.profile != nil {
				s.profile(&p)
			}
			return p, nil
		},
	}
	if s.options != nil {
		s.options(&o)
	}
	if r.Agent, err = agent.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background(), "exit") })
	return r
}

func (r *rig) observe(e agent.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// seen returns the texts of the events of one kind.
func (r *rig) seen(kind agent.EventKind) (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// send runs a turn that must go well.
func (r *rig) send(text string) string {
	r.t.Helper()
	answer, err := r.Send(r.t.Context(), agent.Input{Text: text})
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// fails runs a turn that must end with an error that contains want.
func (r *rig) fails(text, want string) error {
	r.t.Helper()
	_, err := r.Send(r.t.Context(), agent.Input{Text: text})
	if err == nil || !strings.Contains(err.Error(), want) {
		r.t.Fatalf("%s: error %v, want one with %q", text, err, want)
	}
	return err
}

// write makes a file in the working directory.
func (r *rig) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// read returns a file of the working directory; empty if there is none.
func (r *rig) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.dir, name))
	return string(text)
}

// recorder keeps the requests and holds each to the contract of provider.Request.
type recorder struct {
	provider.Client
	t    *testing.T
	mu   sync.Mutex
	reqs []provider.Request
}

func (c *recorder) Chat(
	ctx context.Context,
	req *provider.Request,
	on func(provider.Delta),
) (*provider.Response, error) {
	for _, p := range contract(req.Messages) {
		c.t.Errorf("request %d: %s\n%s", len(c.reqs)+1, p, show(req.Messages))
	}
	c.mu.Lock()
	kept := *req
	kept.Messages = slices.Clone(req.Messages)
	c.reqs = append(c.reqs, kept)
	c.mu.Unlock()
	return c.Client.Chat(ctx, req, on)
}

// request returns the n-th request, from 1.
func (c *recorder) request(n int) provider.Request {
	c.t.Helper()
	if n > len(c.reqs) {
		c.t.Fatalf("there were only %d requests", len(c.reqs))
	}
	return c.reqs[n-1]
}

// count demands that there were exactly n requests.
func (c *recorder) count(n int) {
	c.t.Helper()
	if len(c.reqs) != n {
		c.t.Fatalf("%d requests, want %d", len(c.reqs), n)
	}
}

// offers reports whether the n-th request offered a tool.
func (c *recorder) offers(n int, name string) bool {
	c.t.Helper()
	return slices.ContainsFunc(c.request(n).Tools, func(t provider.Tool) bool { return t.Name == name })
}

// contract says in which ways messages are not what provider.Request promises.
func contract(msgs []message.Message) (problems []string) {
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == message.System || m.Type == message.DisplayOnly {
			problems = append(problems, fmt.Sprintf("message %d must not be sent: %s %s", i, m.Role, m.Type))
		}
		if m.Role == message.Tool {
			problems = append(problems, fmt.Sprintf("message %d answers %q, which is not open", i, m.ToolCallID))
		}
		for _, c := range m.ToolCalls {
			i++
			if i >= len(msgs) || msgs[i].Role != message.Tool || msgs[i].ToolCallID != c.ID {
				return append(problems, fmt.Sprintf("message %d does not answer call %q", i, c.ID))
			}
		}
	}
	return problems
}

// show renders messages for a user.
func show(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%-9s %-9s %q", m.Role, m.Type, m.Content)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, " call:%s:%s", c.ID, c.Name)
		}
		if m.ToolCallID != "" {
			fmt.Fprintf(&b, " answers:%s", m.ToolCallID)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// holds reports whether any message of the n-th request contains text.
func (c *recorder) holds(n int, text string) bool {
	c.t.Helper()
	req := c.request(n)
	return slices.ContainsFunc(req.Messages, func(m message.Message) bool { return strings.Contains(m.Content, text) })
}

// on binds a handler that answers every event of a moment.
func on[T any](m lifecycle.Moment, name string, f func(*T) lifecycle.Reply) lifecycle.Binding {
	return lifecycle.Binding{
		Source: lifecycle.Source{Kind: lifecycle.Plugin, Name: name}, Moment: m,
		Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
			return f(ev.Data.(*T)), nil
		}),
	}
}

// watch keeps the snapshot of every event of a moment.
func watch(m lifecycle.Moment, into *[]sdk.Context) lifecycle.Binding {
	return lifecycle.Binding{
		Source: lifecycle.Source{Kind: lifecycle.Plugin, Name: "watch"}, Moment: m,
		Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
			*into = append(*into, *ev.Context())
			return lifecycle.Reply{}, nil
		}),
	}
}

// says is the reply that injects a message.
func says(text string) lifecycle.Reply { return lifecycle.Reply{Result: sdk.Result{Message: text}} }

// nothing is a schema that takes no arguments.
func nothing() *tool.Schema {
	return tool.MustSchema(`{"type":"object","properties":{},"additionalProperties":false}`)
}

// fake is a tool without arguments.
func fake(name string, f func(context.Context, tool.Call) (tool.Result, error)) tool.Tool {
	return tool.Tool{Name: name, Description: name, Schema: nothing(), Execute: f}
}

// answers is a tool that answers with a text.
func answers(name, text string) tool.Tool {
	return fake(name, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: text}, nil })
}

// patience bounds waits that never end only if something is broken.
const patience = 20 * time.Second
