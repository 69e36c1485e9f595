package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/sdk"
)

// Kind is a kind of handler.
type Kind string

// The kinds of handlers.
const (
	Plugin    Kind = "plugin"
	Extension Kind = "extension"
	Hook      Kind = "hook"
	Guard     Kind = "guard" // Built in.
)

// Source says whose handler it is: what listings, notices and traces print.
type Source struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	File string `json:"file,omitempty"` // Where it is defined, if in a file.
}

func (s Source) String() string { return fmt.Sprintf("%s %q", s.Kind, s.Name) }

// key identifies a source across reloads.
func (s Source) key() string { return string(s.Kind) + "/" + s.Name }

// Handler is one piece of code bound to a moment. Every kind of extension ends here.
type Handler interface {
	Handle(ctx context.Context, ev *Event) (Reply, error)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, ev *Event) (Reply, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, ev *Event) (Reply, error) { return f(ctx, ev) }

// Failure says what becomes of the thing a gate should have judged when the gate
// itself fails.
type Failure string

// Failure policies. The zero value is Allow.
const (
	Allow Failure = "allow"
	Deny  Failure = "block"
)

// Condition says when a handler runs. *condition.Expr is one.
type Condition interface {
	// Eval reports whether the condition holds; shell runs a command and reports its
	// success.
	Eval(ctx context.Context, snapshot *sdk.Context, shell func(ctx context.Context, command string) bool) bool
	String() string
}

// Binding is one handler on one moment.
type Binding struct {
	Source    Source
	Moment    Moment
	Match     func(*Event) bool // Cheap test whether the handler is concerned at all; nil = always.
	Condition Condition         // nil = always.
	Once      bool              // At most once per session, the first time the condition holds.
	Timeout   time.Duration     // 0 = none: for built-in handlers, and for those that stop by themselves.
	OnFailure Failure
	Handler   Handler

	// Guard watches over the calls and knows whether they are switched off. The bindings of
	// one source share it. nil: the pipeline makes one for those with a Timeout.
	Guard *foreign.Guard
}

// Off reports whether the handler is out of service.
func (b *Binding) Off() bool { return b.Guard.Err() != nil }

// Label names the binding in notices: for plugins with the function that is called.
func (b *Binding) Label() string {
	switch row, _ := Describe(b.Moment); b.Source.Kind {
	case Plugin:
		return fmt.Sprintf("plugin hook %q", b.Source.Name+"/"+row.Function)
	case Extension:
		return fmt.Sprintf("extension %q (%s)", b.Source.Name, row.Events[0].Name)
	default:
		return b.Source.String()
	}
}

// Fault is an error that the user must hear of: the handler crashed, overran
// its deadline or could not start. Other errors of handlers are logged only.
type Fault struct {
	Verdict  Verdict // How it failed; empty means Failed.
	Err      error
	Feedback string // As in Reply, unless the failure blocks.
}

func (f *Fault) Error() string { return f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// verdictOf sorts an error of a handler.
func verdictOf(err error) Verdict {
	if f, ok := errors.AsType[*Fault](err); ok && f.Verdict != "" {
		return f.Verdict
	}
	return Failed
}
