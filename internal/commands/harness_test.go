package commands_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider/script"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// world is a real agent with a scripted model and a real store, and the commands
// that act on it.
type world struct {
	*commands.Session
	t      *testing.T
	out    []string // What was printed.
	inputs []string // What was submitted by commands.
	events []string // Lifecycle moments that handlers saw.
	extra  []commands.Command
	model  string
	loads  int

	reads     guard.ReadSwitches
	approvals guard.Approvals
}

// echo is the script of a model that always answers the same.
const echo = "model: {name: tiny, context_length: 1000, capabilities: [tools]}\nloop: true\nturns:\n" +
	"  - text: An answer.\n"

func newWorld(t *testing.T, src string) *world {
	t.Helper()
	client, err := script.New([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, model: "tiny"}
	dir := t.TempDir()
	w.Session = &commands.Session{
		Store:     session.Open(t.TempDir()),
		Reads:     &w.reads,
		Approvals: &w.approvals,
		MCP:       (*mcp.Hub)(nil),
		Skills:    (*skills.Set)(nil),
	}
	list := &todo.List{}
	log, err := w.Store.Create(session.Meta{Workdir: dir})
	if err != nil {
		t.Fatal(err)
	}
	pipeline := lifecycle.New(lifecycle.Options{})
	w.bind(pipeline)
	w.Agent, err = agent.New(agent.Options{
		Pipeline: pipeline, Agent: "Coder", Log: log, Todo: list, Place: agent.Place{Workdir: dir},
		Resolve: func(name, mode string) (agent.Profile, error) { return w.resolve(client, list, name, mode) },
		Observe: func(e agent.Event) {
			if e.Kind == agent.Noticed {
				w.out = append(w.out, e.Text)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Agent.Close(context.Background(), "exit") })
	w.wire(client)
	return w
}

// bind makes the handlers that note what they see.
func (w *world) bind(p *lifecycle.Pipeline) {
	var list []lifecycle.Binding
	for _, m := range []lifecycle.Moment{lifecycle.SessionStart, lifecycle.OnAgentSwitch, lifecycle.SessionEnd} {
		list = append(list, lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Guard, Name: "witness"}, Moment: m,
			Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				note := string(ev.Moment)
				if d, ok := ev.Data.(*sdk.OnAgentSwitchContext); ok {
					note += " " + d.PreviousAgent + ">" + d.NewAgent + " " + d.Reason
				}
				w.events = append(w.events, note)
				return lifecycle.Reply{}, nil
			}),
		})
	}
	p.Bind(lifecycle.Guard, list)
}

// resolve knows the agents Coder and Planner and the mode Plan, in which there is
// nothing but Look.
func (w *world) resolve(client *script.Client, list *todo.List, name, mode string) (agent.Profile, error) {
	p := agent.Profile{
		Model: agent.Model{Provider: "script", Client: client, Name: w.model},
		Settings: agent.Settings{
			MaxSteps:   5,
			Title:      agent.Title{Length: 50},
			Compaction: agent.Compaction{Threshold: 80, KeepLast: 2},
		},
		Prompt: agent.Prompt{Agent: "You help.", Policy: "denied: Bash:rm*"},
	}
	reads := w.reads.Apply(guard.ReadBefore{Write: true})
	p.Prompt.ReadBefore, p.Settings.ReadBefore = agent.ReadBeforeData(reads), reads.Write
	switch {
	case strings.EqualFold(name, "coder"):
		p.Agent = "Coder"
	case strings.EqualFold(name, "planner"):
		p.Agent = "Planner"
		if mode == "" {
			mode = "plan"
		}
	default:
		return p, fmt.Errorf("no agent %q", name)
	}
	all := testTools(list)
	p.Tools = slices.DeleteFunc(slices.Clone(all), func(t tool.Tool) bool { return t.OptIn })
	switch {
	case strings.EqualFold(mode, "plan"):
		p.Mode, p.Tools = "Plan", all[:1]
	case mode != "" && mode != "none":
		return p, fmt.Errorf("no mode %q", mode)
	}
	return p, nil
}

// testTools is Look, Finish, which completes the first todo, Done and Rare.
func testTools(list *todo.List) []tool.Tool {
	run := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ok"}, nil }
	return []tool.Tool{
		{
			Name:        "Look",
			Description: "Looks around.\nA second line.",
			Source:      tool.Source{Kind: "builtin"},
			Execute:     run,
		},
		{
			Name:        "Finish",
			Description: "Completes a todo.",
			Serial:      true,
			Source:      tool.Source{Kind: "plugin", Name: "todos"},
			Execute: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Text: "ok"}, list.Update(1, todo.Completed)
			},
		},
		{Name: "Done", Description: "Ends the turn.", Source: tool.Source{Kind: "builtin"}, Execute: run},
		{
			Name:        "Rare",
			Description: "Seldom used.",
			OptIn:       true,
			Confirm:     true,
			Source:      tool.Source{Kind: "mcp", Name: "srv"},
			Execute:     run,
		},
	}
}

// wire connects the commands as the program does.
func (w *world) wire(client *script.Client) {
	active := func(names ...string) func() []commands.Choice {
		return func() []commands.Choice {
			var list []commands.Choice
			for _, n := range names {
				p := w.Agent.Profile()
				list = append(
					list,
					commands.Choice{Name: n, Description: "The " + n, Active: n == p.Agent || n == p.Mode},
				)
			}
			return list
		}
	}
	w.Commands = func() []commands.Command { return append(commands.Builtin(), w.extra...) }
	w.Agents, w.Modes = active("Coder", "Planner"), active("Plan")
	w.Tools = func() []tool.Tool { return testTools(&todo.List{}) }
	w.Models = func(ctx context.Context) ([]commands.Choice, error) {
		list, err := client.Models(ctx)
		var out []commands.Choice
		for _, m := range list {
			out = append(out, commands.Choice{Name: m.Name, Active: m.Name == w.model})
		}
		return out, err
	}
	w.SetModel = func(name string) error { w.model = name; return w.Agent.Reload() }
	w.Print = func(text string) { w.out = append(w.out, text) }
	w.Submit = func(ctx context.Context, input string) error {
		w.inputs = append(w.inputs, input)
		return w.submit(ctx, input)
	}
	w.Reload = func(context.Context) error { w.loads++; return w.Agent.Reload() }
	w.Shell = func(ctx context.Context, command string) bool {
		r, err := sh.Run(ctx, sh.Command{Script: command, Dir: w.Agent.Snapshot().Workdir})
		return err == nil && r.ExitCode == 0
	}
}

// submit processes what a user types.
func (w *world) submit(ctx context.Context, input string) error {
	return w.Process(ctx, input, "")
}

// do types input and returns what was printed.
func (w *world) do(input string) string {
	w.t.Helper()
	w.out = nil
	if err := w.submit(w.t.Context(), input); err != nil {
		w.t.Fatalf("%s: %v", input, err)
	}
	return strings.Join(w.out, "\n")
}

// fails types input and checks that the error contains every part.
func (w *world) fails(input string, parts ...string) {
	w.t.Helper()
	err := w.submit(w.t.Context(), input)
	if err == nil {
		w.t.Fatalf("%s: no error", input)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			w.t.Errorf("%s: error %q lacks %q", input, err, p)
		}
	}
}

// contains checks that text has every part.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

// texts lists what was said.
func (w *world) texts() []string {
	var list []string
	for _, m := range w.Agent.Messages() {
		if m.Role == message.User || m.Role == message.Assistant {
			list = append(list, m.Content)
		}
	}
	return list
}
