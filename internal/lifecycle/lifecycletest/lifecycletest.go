// Package lifecycletest is the table of what every kind of handler must do on the
// pipeline. A kind brings a maker that turns a described behaviour into real
// handlers of that kind; the cases are the same for all.
package lifecycletest

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// Behaviour is what a handler shall do when it is called. The zero value does
// nothing.
type Behaviour struct {
	Name      string // Of the plugin, extension, hook or guard.
	Moment    lifecycle.Moment
	Block     string            // Refuse with this reason.
	Arguments map[string]string // Set these arguments of the tool call.
	Append    string            // Append this to the text, output or response that passes.
	Say       string            // Inject this message.
	Notice    string            // Show this notice.
	Retry     bool              // Ask for a retry of the failed model call.
	Skip      bool              // Skip what can be skipped at the moment.
	Panic     string
	Error     string
	Hang      bool // Never come back, and ignore the context.

	Condition string
	Once      bool
	OnFailure lifecycle.Failure
	Timeout   time.Duration // 0: a generous one.
}

// Maker turns behaviours into bindings of one kind.
type Maker struct {
	Kind lifecycle.Kind
	Make func(t *testing.T, behaviours []Behaviour) []lifecycle.Binding

	// Without names cases that the kind has no way to express, with the reason.
	Without map[string]string
}

// Case is one row of the table.
type Case struct {
	Name     string
	Handlers []Behaviour
	Data     any // Event data; its type decides the moment.
	Times    int // Dispatches; 0 is 1. The outcome of the last one is checked.
	Check    func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome)
}

// Run takes a kind of handler through the table.
func Run(t *testing.T, m Maker) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if why, ok := m.Without[c.Name]; ok {
				t.Logf("not for %s handlers: %s", m.Kind, why)
				return
			}
			p := lifecycle.New(lifecycle.Options{})
			for i := range c.Handlers {
				if c.Handlers[i].Timeout == 0 {
					c.Handlers[i].Timeout = time.Minute
				}
			}
			p.Bind(m.Kind, m.Make(t, c.Handlers))
			var out lifecycle.Outcome
			for range max(c.Times, 1) {
				out = p.Dispatch(t.Context(), lifecycle.Event{Moment: c.Handlers[0].Moment, Data: c.Data}, nil)
			}
			c.Check(t, p, out)
		})
	}
}

func toolCall() *sdk.BeforeToolContext {
	return &sdk.BeforeToolContext{ToolName: "Bash", ToolCallID: "c1", Arguments: map[string]any{"command": "ls"}}
}

// Cases is the table: veto, change, say, retry, once, timeout, panic, error.
func Cases() []Case {
	const before, after = lifecycle.BeforeToolExecution, lifecycle.AfterToolExecution
	return []Case{
		{
			"veto",
			[]Behaviour{
				{Name: "a", Moment: before, Block: "not on my watch"},
				{Name: "b", Moment: before, Say: "never said"},
			},
			toolCall(),
			1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				wantBlocked(t, out, "not on my watch")
				if said := spoken(out); len(said) != 0 {
					t.Errorf("said after a veto: %v", said)
				}
				wantVerdicts(t, p, lifecycle.Blocked)
			},
		},
		{
			"change",
			[]Behaviour{
				{Name: "a", Moment: before, Arguments: map[string]string{"command": "pwd"}},
				{Name: "b", Moment: before, Arguments: map[string]string{"workdir": "/"}},
			},
			toolCall(),
			1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				got := out.Data.(*sdk.BeforeToolContext).Arguments
				if want := map[string]any{"command": "pwd", "workdir": "/"}; !reflect.DeepEqual(got, want) {
					t.Errorf("arguments %v, want %v", got, want)
				}
				wantVerdicts(t, p, lifecycle.Changed, lifecycle.Changed)
			},
		},
		{
			"change output",
			[]Behaviour{{Name: "a", Moment: after, Append: " one"}, {Name: "b", Moment: after, Append: " two"}},
			&sdk.AfterToolContext{ToolName: "Bash", ToolResult: "out"},
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) {
				if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != "out one two" {
					t.Errorf("output %q", got)
				}
			},
		},
		{
			"say",
			[]Behaviour{{Name: "a", Moment: before, Say: "first"}, {Name: "b", Moment: before, Say: "second"}},
			toolCall(),
			1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				if said := spoken(
					out,
				); len(said) != 2 || !strings.Contains(said[0], "first") ||
					!strings.Contains(said[1], "second") {
					t.Errorf("said %v", said)
				}
				wantVerdicts(t, p, lifecycle.Spoke, lifecycle.Spoke)
			},
		},
		{
			"notice",
			[]Behaviour{{Name: "a", Moment: lifecycle.SessionStart, Notice: "look here"}},
			&sdk.SessionStartContext{},
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) { wantNotice(t, out, "look here") },
		},
		{
			"retry",
			[]Behaviour{
				{Name: "a", Moment: lifecycle.OnError, Retry: true},
				{Name: "b", Moment: lifecycle.OnError, Skip: true},
			},
			&sdk.OnErrorContext{Error: "503"},
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) {
				if !out.Retry || !out.Skip {
					t.Errorf("retry %v, skip %v", out.Retry, out.Skip)
				}
			},
		},
		{
			"skip compaction",
			[]Behaviour{{Name: "a", Moment: lifecycle.BeforeCompaction, Skip: true}},
			&sdk.BeforeCompactionContext{},
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) {
				if !out.Skip {
					t.Error("compaction was not skipped")
				}
			},
		},
		{
			"once",
			[]Behaviour{
				{Name: "a", Moment: before, Say: "once", Once: true},
				{Name: "b", Moment: before, Say: "always"},
			},
			toolCall(),
			3,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				if said := spoken(out); len(said) != 1 || !strings.Contains(said[0], "always") {
					t.Errorf("said in the third dispatch: %v", said)
				}
				wantVerdicts(t, p, lifecycle.Spoke, lifecycle.Spoke, lifecycle.Spoke, lifecycle.Spoke)
			},
		},
		{"condition", []Behaviour{{Name: "a", Moment: before, Block: "auto only", Condition: "auto"}}, toolCall(), 1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				if out.Blocked != nil {
					t.Errorf("blocked although the condition is false: %v", out.Blocked)
				}
				wantVerdicts(t, p)
			}},
		{
			"panic",
			[]Behaviour{{Name: "a", Moment: before, Panic: "boom"}, {Name: "b", Moment: before, Say: "still here"}},
			toolCall(),
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) {
				wantNotice(t, out, "boom")
				wantNotice(t, out, `a`)
				if !strings.Contains(strings.Join(spoken(out), "\n"), "still here") || out.Blocked != nil {
					t.Errorf("a panic stopped the others: %+v", out)
				}
			},
		},
		{
			"panic closed gate",
			[]Behaviour{{Name: "a", Moment: before, Panic: "boom", OnFailure: lifecycle.Deny}},
			toolCall(),
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) { wantBlocked(t, out, "boom") },
		},
		{
			"error",
			[]Behaviour{
				{Name: "a", Moment: before, Error: "no good", Say: "never said"},
				{Name: "b", Moment: before, Say: "still here"},
			},
			toolCall(),
			1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				if said := spoken(
					out,
				); len(said) != 1 || !strings.Contains(said[0], "still here") ||
					out.Blocked != nil {
					t.Errorf("outcome after an error: %+v", out)
				}
				wantVerdicts(t, p, lifecycle.Failed, lifecycle.Spoke)
			},
		},
		{
			"error closed gate",
			[]Behaviour{{Name: "a", Moment: before, Error: "no good", OnFailure: lifecycle.Deny}},
			toolCall(),
			1,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) { wantBlocked(t, out, "no good") },
		},
		{
			"timeout",
			[]Behaviour{
				{Name: "a", Moment: before, Hang: true, Timeout: 300 * time.Millisecond},
				{Name: "b", Moment: before, Say: "still here"},
			},
			toolCall(),
			1,
			func(t *testing.T, p *lifecycle.Pipeline, out lifecycle.Outcome) {
				wantNotice(t, out, "timed out")
				if !strings.Contains(strings.Join(spoken(out), "\n"), "still here") {
					t.Errorf("a timeout stopped the others: %+v", out)
				}
				wantVerdicts(t, p, lifecycle.TimedOut, lifecycle.Spoke)
			},
		},
		{
			"timeout closed gate",
			[]Behaviour{
				{Name: "a", Moment: before, Hang: true, Timeout: 300 * time.Millisecond, OnFailure: lifecycle.Deny},
			},
			toolCall(),
			2,
			func(t *testing.T, _ *lifecycle.Pipeline, out lifecycle.Outcome) {
				if out.Blocked == nil {
					t.Error("a gate that hangs must stay closed")
				}
			},
		},
	}
}

// Builtin makes handlers in Go, for the table itself and for guards.
func Builtin() Maker {
	return Maker{Kind: lifecycle.Guard, Make: func(t *testing.T, behaviours []Behaviour) []lifecycle.Binding {
		var list []lifecycle.Binding
		for _, b := range behaviours {
			var when lifecycle.Condition
			if b.Condition != "" {
				expr, err := condition.Parse(b.Condition)
				if err != nil {
					t.Fatal(err)
				}
				when = expr
			}
			list = append(list, lifecycle.Binding{
				Source: lifecycle.Source{Name: b.Name}, Moment: b.Moment, Condition: when, Once: b.Once,
				Timeout: b.Timeout, OnFailure: b.OnFailure, Handler: b,
			})
		}
		return list
	}}
}

// Handle makes a Behaviour a handler in Go.
func (b Behaviour) Handle(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	if b.Hang {
		<-context.WithoutCancel(ctx).Done() // nil channel: forever
	}
	if b.Panic != "" {
		panic(b.Panic)
	}
	r := lifecycle.Reply{Result: sdk.Result{Message: b.Say, Notice: b.Notice}, Block: b.Block != "", Reason: b.Block}
	if b.Error != "" {
		return r, errorString(b.Error)
	}
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		if b.Arguments != nil {
			r.Arguments = map[string]any{}
			for k, v := range d.Arguments {
				r.Arguments[k] = v
			}
			for k, v := range b.Arguments {
				r.Arguments[k] = v
			}
		}
	case *sdk.AfterToolContext:
		if b.Append != "" {
			text := d.ToolResult + b.Append
			r.Output = &text
		}
	case *sdk.OnErrorContext:
		r.Result.Error = &sdk.ErrorModification{Retry: b.Retry, Skip: b.Skip}
	case *sdk.BeforeCompactionContext:
		r.Compaction = &sdk.CompactionModification{Skip: b.Skip}
	}
	return r, nil
}

type errorString string

func (e errorString) Error() string { return string(e) }

// spoken is what reaches the model, as a message of its own or with the result of
// the tool call.
func spoken(out lifecycle.Outcome) []string {
	list := slices.Clone(out.Feedback)
	for _, s := range out.Said {
		list = append(list, s.Text)
	}
	return list
}

func wantBlocked(t *testing.T, out lifecycle.Outcome, reason string) {
	t.Helper()
	if out.Blocked == nil || !strings.Contains(out.Blocked.Reason, reason) {
		t.Errorf("blocked: %+v, want a reason with %q", out.Blocked, reason)
	}
}

func wantNotice(t *testing.T, out lifecycle.Outcome, text string) {
	t.Helper()
	for _, n := range out.Notices {
		if strings.Contains(n.Text, text) {
			return
		}
	}
	t.Errorf("notices %v, want one with %q", out.Notices, text)
}

func wantVerdicts(t *testing.T, p *lifecycle.Pipeline, want ...lifecycle.Verdict) {
	t.Helper()
	var got []lifecycle.Verdict
	for _, r := range p.Records() {
		got = append(got, r.Verdict)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}
