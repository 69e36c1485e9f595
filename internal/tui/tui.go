// Package tui is the full-screen face of aura: a transcript that streams, an
// editor, questions and lists, drawn with Bubble Tea. It runs no agent and takes no
// decision: it hands input to a session and shows what the session reports.
package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/line/history"
	"github.com/idelchi/aura/internal/render"
)

// Session is what the interface talks to. All its methods are called by one
// goroutine.
type Session interface {
	Start(ctx context.Context, key string) error
	Submit(ctx context.Context, input string) error
	Agent() *agent.Agent
	Commands() *commands.Session
}

// Options configures a UI. The zero value runs on the terminal of the process.
type Options struct {
	In      io.Reader // nil = os.Stdin.
	Out     io.Writer // nil = os.Stdout.
	Env     []string  // nil = os.Environ(). Decides about colors and the editor.
	Workdir string    // What paths in calls are relative to.
	History string    // File of what was typed; empty = none.
	Version string    // Of the program, for the greeting.
	Logger  *slog.Logger
}

// UI is the interface of one session. Its methods Observe, Print, Approve, Ask,
// Begin and Trace are the face that the session is opened with; they may be called
// from any goroutine.
type UI struct {
	opts    Options
	history *history.List
	feed    feed
	jobs    chan job
	crashed chan any
	draft   draft
	program *tea.Program

	mu      sync.Mutex
	session Session            // nil until Run.
	cancel  context.CancelFunc // Of the job that runs.
	ended   os.Signal          // What ended the program; nil: the user did.
	failed  error              // Why the session could not be started.

	hook func(tea.Msg) // For tests: sees every message first.
}

// New makes an interface; Run shows it.
func New(o Options) *UI {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return &UI{
		opts:    o,
		history: history.Open(o.History, o.Logger),
		jobs:    make(chan job, 64),
		feed:    newFeed(),
		crashed: make(chan any, 1),
	}
}

// Run shows the interface until the user ends it. It starts the session, or
// resumes the one that is named. The
// terminal is as before when it returns, whatever happened. A panic of the session or
// of the interface is raised again after that. A signal that ended it is a *SignalError.
func (u *UI) Run(ctx context.Context, s Session, resume string) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	u.mu.Lock()
	u.session = s
	u.mu.Unlock()
	m := newModel(u, resume)
	options := []tea.ProgramOption{
		tea.WithInput(
			u.opts.In,
		),
		tea.WithOutput(u.opts.Out),
		tea.WithEnvironment(u.opts.Env),
		tea.WithoutSignalHandler(),
		tea.WithFPS(120), // A key waits for the next frame: half as long.
	}
	u.program = tea.NewProgram(m, options...)

	var group sync.WaitGroup
	group.Go(func() { u.signals(ctx) })
	group.Go(func() { u.feed.pump(ctx, u.program.Send) })
	working := make(chan struct{})
	go func() {
		defer close(working)
		u.work(ctx)
	}()
	_, err = u.program.Run()
	u.draft.keep(u.history)
	close(u.jobs)
	stop()
	u.Cancel()
	group.Wait()
	select {
	case <-working:
	case <-time.After(cancelGrace): // Foreign code that does not stop: the session is closed without it.
	}
	select {
	case v := <-u.crashed:
		panic(v)
	default:
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if s, ok := u.ended.(syscall.Signal); ok && err == nil {
		err = &SignalError{s}
	}
	if err == nil {
		err = u.failed
	}
	return err
}

// SignalError says that a signal ended the interface.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "ended by a signal: " + e.Signal.String() }

// crash ends the program because of a panic.
func (u *UI) crash(v any) {
	if u.opts.Logger != nil {
		u.opts.Logger.Error("panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
	select {
	case u.crashed <- v:
	default:
	}
	go u.program.Quit()
}

// cancelGrace is how long the end of a cancelled turn is waited for.
const cancelGrace = 5 * time.Second

// signals makes signals end the program properly.
func (u *UI) signals(ctx context.Context) {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ch)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-ch:
			if open := u.draft.pass(s); open && s == os.Interrupt {
				continue
			}
			u.mu.Lock()
			u.ended = s
			u.mu.Unlock()
			u.Cancel()
			u.program.Quit()
		}
	}
}

// Cancel ends the turn that runs, if one does.
func (u *UI) Cancel() {
	u.mu.Lock()
	cancel := u.cancel
	u.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// Observe shows an event of the agent.
func (u *UI) Observe(e agent.Event) {
	it := item{event: e}
	if e.Kind == agent.ToolStarted {
		// Now, because the call is about to change the file.
		it.change = changeOf(u.opts.Workdir, e.Tool, e.Args)
	}
	u.feed.push(it)
	u.mu.Lock()
	open := u.session != nil
	u.mu.Unlock()
	if open && e.Agent == "" && refreshes(e.Kind) {
		u.feed.push(item{state: u.facts(false)})
	}
}

// refreshes reports whether the status may be another one after an event.
func refreshes(k agent.EventKind) bool {
	switch k {
	case agent.TurnStarted, agent.ToolFinished, agent.Answered, agent.Switched, agent.Compacted:
		return true
	}
	return false
}

// changeOf is the change that a call makes, as the lines of a diff; nil for calls
// that change no file.
func changeOf(workdir, name string, args map[string]any) []render.Line {
	switch name {
	case "Write", "Edit", "Patch":
	default:
		return nil
	}
	lines := render.Preview(workdir, name, args, maxChange)
	if name != "Patch" && len(lines) > 0 {
		lines = lines[1:] // The path is in the head of the block.
	}
	return slices.DeleteFunc(lines, func(l render.Line) bool { return strings.HasPrefix(l.Text, `\ No newline`) })
}

// maxChange bounds the lines of a change that can be looked at.
const maxChange = 400

// Print shows the output of a command.
func (u *UI) Print(text string) { u.feed.push(item{print: text + "\n"}) }

// Begin notes which handler runs.
func (u *UI) Begin(m lifecycle.Moment, s lifecycle.Source) {
	if s.Kind != lifecycle.Guard && m != lifecycle.StreamChunk {
		u.feed.handling(s.String())
	}
}

// Trace shows what a handler did, where it did something. What the user decided they
// know.
func (u *UI) Trace(r lifecycle.Record) {
	u.feed.handling("")
	if r.Verdict != lifecycle.Passed && r.Source != lifecycle.Approval {
		u.feed.push(item{record: &r})
	}
}

// Approve shows a call and lets the user decide. It returns at once when ctx ends.
func (u *UI) Approve(ctx context.Context, q agent.Approval) agent.Decision {
	ask := newApproval(q, render.Preview(u.opts.Workdir, q.Tool, q.Args, maxChange), cmp.Or(q.Pattern, q.Tool))
	if err := u.put(ctx, ask); err != nil {
		return agent.Decision{Reason: "cancelled"}
	}
	return ask.decision
}

// Ask puts a question of the model to the user. It returns at once when ctx ends.
func (u *UI) Ask(ctx context.Context, q agent.Question) ([]string, error) {
	ask := newAsk(q)
	if err := u.put(ctx, ask); err != nil {
		return nil, err
	}
	return ask.answers, nil
}

// put shows a question and waits for its answer.
func (u *UI) put(ctx context.Context, q *question) error {
	u.feed.push(item{question: q})
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		u.feed.push(item{withdrawn: q})
		return ctx.Err()
	}
}

// env reads the environment that the interface was given.
func (u *UI) env(name string) string {
	for i := len(u.opts.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(u.opts.Env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
