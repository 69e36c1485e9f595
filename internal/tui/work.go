package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/wording"
)

// job is something for the goroutine that owns the session.
type job struct {
	input string // What the user said, if it is that.
	quiet bool   // Its end is nothing to talk about.
	run   func(ctx context.Context, s Session) (any, error)
}

// ended reports the end of a job. It comes after everything that the job reported.
type ended struct {
	job       job
	result    any // What the job found out.
	err       error
	cancelled bool
	history   []message.Message // The conversation, if it is another one now.
	renewed   bool
}

// state is what the status line and the menus know about the session.
type state struct {
	agent, mode, model string
	usage              usage
	auto, verbose      bool
	think              string // Thinking mode.
	sandbox            agent.SandboxState
	title              string
	lists              *lists // nil: as before.
}

// usage counts tokens.
type usage struct {
	percent      float64 // Of the window.
	guessed      bool    // The provider has counted nothing yet.
	used, window int
	in, out      int // Of the session.
}

// lists are what there is to choose from.
type lists struct {
	commands      []commands.Command
	agents, modes []commands.Choice
}

// facts asks the session for its state. It belongs to the goroutine that owns the
// session, or to one that the owner waits for.
func (u *UI) facts(full bool) *state {
	a := u.session.Agent()
	if full {
		_, _ = a.SystemPrompt(context.Background()) // It counts; a model call reports what is wrong with it.
	}
	snap := a.Snapshot()
	s := &state{
		agent:   snap.Agent,
		mode:    snap.Mode,
		model:   snap.ModelInfo.Name,
		auto:    snap.Auto,
		verbose: a.Switches().Verbose(),
		think:   snap.ThinkMode,
		usage: usage{
			snap.Tokens.Percent,
			snap.Tokens.LastAPI == 0,
			snap.Tokens.Estimate,
			snap.Tokens.Max,
			snap.Stats.TokensIn,
			snap.Stats.TokensOut,
		},
		title: snap.SessionTitle,
	}
	if s.model == "" {
		s.model = a.Profile().Model.Name
	}
	c := u.session.Commands()
	if c.Sandbox != nil {
		s.sandbox = c.Sandbox()
	}
	if full {
		s.lists = &lists{commands: c.Commands(), agents: c.Agents(), modes: c.Modes()}
	}
	return s
}

// work runs jobs, one at a time. A panic ends the program.
func (u *UI) work(ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			u.crash(v)
		}
	}()
	for j := range u.jobs {
		if ctx.Err() != nil {
			continue
		}
		u.do(ctx, j)
	}
}

func (u *UI) do(ctx context.Context, j job) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u.mu.Lock()
	u.cancel = cancel
	u.mu.Unlock()
	a := u.session.Agent()
	before, length := logID(a), len(a.Messages())
	result, err := j.run(ctx, u.session)
	e := ended{job: j, result: result, err: err, cancelled: ctx.Err() != nil}
	u.mu.Lock()
	u.cancel = nil
	if j.input == startInput && err != nil && !e.cancelled {
		u.failed = err // Another session is not what was asked for.
		go u.program.Quit()
	}
	u.mu.Unlock()
	name, _, command := commands.Parse(j.input)
	e.renewed = j.input == startInput || logID(a) != before && name != "fork" ||
		command && (name == "clear" || name == "undo") && len(a.Messages()) < length
	if e.renewed {
		e.history = a.Messages()
	}
	u.feed.push(item{state: u.facts(true)})
	u.feed.push(item{ended: &e})
}

// startInput marks the job that starts the session.
const startInput = "\x00start"

func logID(a *agent.Agent) string {
	if log := a.Log(); log != nil {
		return log.ID()
	}
	return ""
}

// The jobs.

func start(key string) job {
	return job{
		input: startInput,
		run:   func(ctx context.Context, s Session) (any, error) { return nil, s.Start(ctx, key) },
	}
}

func submit(text string) job {
	return job{input: text, run: func(ctx context.Context, s Session) (any, error) { return nil, s.Submit(ctx, text) }}
}

// cycleAgent makes the next agent active.
func cycleAgent() job {
	return job{quiet: true, run: func(ctx context.Context, s Session) (any, error) {
		list := s.Commands().Agents()
		next := following(list)
		if next == "" || len(list) == 1 && list[0].Active {
			return "there is no other agent", nil
		}
		return nil, s.Agent().Switch(ctx, next, "", "cycle")
	}}
}

// cycleMode makes the next mode active; after the last one comes none.
func cycleMode() job {
	return job{quiet: true, run: func(_ context.Context, s Session) (any, error) {
		list := s.Commands().Modes()
		if len(list) == 0 {
			return "there are no modes", nil
		}
		next := "none"
		if s.Agent().Profile().Mode == "" {
			next = list[0].Name
		} else if i := activeIndex(list); i >= 0 && i+1 < len(list) {
			next = list[i+1].Name
		}
		return nil, s.Agent().SetMode(next)
	}}
}

func activeIndex(list []commands.Choice) int {
	for i, c := range list {
		if c.Active {
			return i
		}
	}
	return -1
}

func following(list []commands.Choice) string {
	if len(list) == 0 {
		return ""
	}
	return list[(activeIndex(list)+1)%len(list)].Name
}

// toggle flips a switch of the session.
func toggle(flip func(s Session) error) job {
	return job{quiet: true, run: func(_ context.Context, s Session) (any, error) { return nil, flip(s) }}
}

// flipAuto says what it did: calls are not put to the user any more, or again.
func flipAuto(_ context.Context, s Session) (any, error) {
	switches := s.Agent().Switches()
	switches.SetAuto(!switches.Auto())
	if switches.Auto() {
		return remark(
			"auto mode is on: calls run without your consent, open todos are worked on (Ctrl+A or /auto off ends it)",
		), nil
	}
	return remark("auto mode is off"), nil
}

func flipVerbose(s Session) error {
	switches := s.Agent().Switches()
	switches.SetVerbose(!switches.Verbose())
	return nil
}

func flipSandbox(s Session) error {
	c := s.Commands()
	if c.SetSandbox == nil || c.Sandbox == nil {
		return errors.New("sandbox: not available")
	}
	return c.SetSandbox(!c.Sandbox().Enabled)
}

// listModels asks the provider for its models.
func listModels() job {
	return job{quiet: true, run: func(ctx context.Context, s Session) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		list, err := s.Commands().Models(ctx)
		return pickModels(list), err
	}}
}

// listSessions reads the sessions that are kept.
func listSessions() job {
	return job{quiet: true, run: func(_ context.Context, s Session) (any, error) {
		store := s.Commands().Store
		if store == nil {
			return nil, errors.New(
				"no sessions are kept: there is neither a project home nor a global one (see aura init)",
			)
		}
		saved, err := store.List()
		list := make(pickSessions, len(saved))
		for i, info := range saved {
			title := wording.FirstLine(info.Title)
			if info.Name != "" {
				title = info.Name + ": " + title
			}
			list[i] = option{
				name:   info.Updated.Local().Format("2006-01-02 15:04") + "  " + info.ID[:min(8, len(info.ID))],
				value:  info.ID,
				detail: fmt.Sprintf("%s, %s", title, wording.Count(info.Messages, "message")),
				active: info.ID == logID(s.Agent()),
			}
		}
		return list, err
	}}
}

type (
	remark       string // For the transcript.
	pickModels   []commands.Choice
	pickSessions []option
)
