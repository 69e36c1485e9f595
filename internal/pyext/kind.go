package pyext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
)

// Source is where the extensions of a session are, and what runs them. Finding it
// starts no process.
type Source struct {
	Interpreter Interpreter
	Err         error // Why there is no interpreter.
	Cache       string
	Workdir     string
	Env         []string
	Dirs        Dirs
	Found       []Extension // Shadowed ones included.

	Timeout     time.Duration // Of handlers; 0 is the usual one.
	ToolTimeout time.Duration // Of tools and commands; likewise.
}

// Find completes a source: it looks for an interpreter, python being the configured one,
// and for the extensions.
func (s Source) Find(python string, getenv func(string) string) Source {
	s.Interpreter, s.Err = FindInterpreter(s.Workdir, python, getenv)
	var installed []Extension
	if s.Err == nil {
		installed = s.Interpreter.Installed(s.Cache)
	}
	s.Found = Discover(s.Dirs, installed)
	return s
}

// options are the options of a host for the extensions.
func (s *Source) options() Options {
	return Options{
		Interpreter: s.Interpreter, Cache: s.Cache, Workdir: s.Workdir, Env: s.Env,
		Timeout: s.Timeout, ToolTimeout: s.ToolTimeout,
	}
}

// Load starts the extensions and returns what each registers, or why it does not run.
func (s *Source) Load(ctx context.Context) ([]Loaded, error) {
	if s.Err != nil {
		return nil, s.Err
	}
	host := New(s.options(), s.Found)
	defer host.Close()
	host.Start()
	err := host.Wait(ctx)
	return host.Extensions(), err
}

// Inspect loads one extension by itself and tells what it registers.
func (s *Source) Inspect(ctx context.Context, e Extension) (Loaded, error) {
	e.ShadowedBy = ""
	alone := *s
	alone.Found = []Extension{e}
	list, err := alone.Load(ctx)
	if len(list) == 0 {
		return Loaded{}, err
	}
	if list[0].Error != "" {
		err = errors.New(list[0].Error)
	}
	return list[0], err
}

// Session is what extensions need of the session that they take part in.
type Session struct {
	Find     func() (Source, error)
	Off      string // Why none is to run; empty: they are.
	Debug    bool
	Logger   *slog.Logger
	Messages func() []message.Message     // The conversation.
	Notice   func(extension, text string) // Tells the user something; no extension is all of them.
}

// Set is the extensions of a session: found, and running where there is a host.
type Set struct {
	found []Extension
	host  *Host // nil: there is no extension, or no Python.
	err   error // Why none runs.

	mu    sync.Mutex
	ready bool // What they registered is known.
	tools []tool.Tool
}

// Kind is Python extensions as a kind of extension. The process starts in the background.
func Kind(o Session) extension.Kind {
	return extension.Kind{
		Name: "extensions", Title: "Python extensions", Handlers: lifecycle.Extension,
		Load: func(_ context.Context, previous *extension.Loaded) (extension.Loaded, error) {
			s, err := o.start(previous != nil)
			if err != nil {
				return extension.Loaded{}, err
			}
			l := extension.Loaded{List: s.items, Err: s.whyNone, Value: s}
			if s.host != nil {
				l.Bindings, l.Tools, l.Commands, l.Prompts = s.bindings, s.toolList, s.commands, s.prompts
				l.Ready = func(ctx context.Context) { s.wait(ctx, o.Logger) }
				l.Close = s.host.Close
			}
			return l, nil
		},
		Check: o.check,
	}
}

// start starts the Python process if there is an extension. resumed: the session has
// started already.
func (o *Session) start(resumed bool) (*Set, error) {
	if o.Off != "" {
		return &Set{err: errors.New(o.Off)}, nil
	}
	source, err := o.Find()
	if err != nil {
		return nil, err
	}
	s := &Set{found: source.Found, err: source.Err}
	if len(source.Found) == 0 {
		return s, nil
	}
	if source.Err != nil {
		o.Notice("", fmt.Sprintf("%d Python extensions do not run: %v", len(Active(source.Found)), source.Err))
		return s, nil
	}
	options := source.options()
	options.Resumed, options.Debug, options.Logger = resumed, o.Debug, o.Logger
	options.Notice, options.Messages = o.Notice, o.Messages
	s.host = New(options, source.Found)
	s.host.Start()
	return s, nil
}

// wait returns when the extensions are loaded.
func (s *Set) wait(ctx context.Context, log *slog.Logger) {
	err := s.host.Wait(ctx)
	if err != nil && log != nil {
		log.Warn("extensions", "error", err)
	}
	if ctx.Err() != nil {
		return // Nobody waits any more; it goes on starting.
	}
	tools := s.host.Tools()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready, s.tools = true, tools
}

// loaded reports whether what the extensions registered is known.
func (s *Set) loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *Set) bindings() []lifecycle.Binding {
	if !s.loaded() {
		return nil
	}
	return s.host.Bindings()
}

func (s *Set) toolList() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *Set) commands() []tool.Command {
	if !s.loaded() {
		return nil
	}
	return s.host.Commands()
}

func (s *Set) prompts() []string {
	if !s.loaded() {
		return nil
	}
	return s.host.Prompts()
}

// List tells how it stands with the extensions; err is why none of them runs. It neither
// starts nor waits for anything.
func (s *Set) List() ([]Loaded, error) {
	if s == nil {
		return nil, nil
	}
	err := s.err
	if err == nil && s.host != nil {
		err = s.host.Err()
	}
	return List(s.found, s.host), err
}

func (s *Set) items() []extension.Item {
	list, err := s.List()
	var out []extension.Item
	for _, x := range list {
		item := extension.Item{
			Name: x.Name, Status: x.status(err), Origin: string(x.Tier), Path: x.Path, Moments: x.Events,
			Prompts: len(x.Prompts), Problem: x.Error,
		}
		if x.EntryPoint != "" {
			item.Path += " (" + x.EntryPoint + ")"
		}
		for _, t := range x.Tools {
			item.Tools = append(item.Tools, t.Name)
			if t.Approval {
				item.Confirm = append(item.Confirm, t.Name)
			}
		}
		for _, c := range x.Commands {
			item.Commands = append(item.Commands, c.Name)
		}
		out = append(out, item)
	}
	return out
}

// whyNone is why none of the extensions runs.
func (s *Set) whyNone() error {
	_, err := s.List()
	return err
}

// status says how it stands with an extension; err is why none runs.
func (l *Loaded) status(err error) string {
	switch {
	case l.ShadowedBy != "":
		return "shadowed by " + string(l.ShadowedBy)
	case l.Error != "" || err != nil:
		return "off"
	case l.Events == nil:
		return "starting"
	}
	return "running"
}

// check looks at Python, and loads the extensions if there are any.
func (o *Session) check(ctx context.Context, limit time.Duration) []extension.Finding {
	if o.Off != "" {
		return []extension.Finding{{Subject: "extensions", Text: "not loaded (--without-extensions)"}}
	}
	source, err := o.Find()
	if err != nil {
		return extension.Mistakes("extensions", err)
	}
	active := Active(source.Found)
	if err = source.Err; err == nil {
		_, err = source.Interpreter.Resolve(source.Cache)
	}
	if err != nil && len(active) == 0 { // Without extensions Python does not matter.
		return []extension.Finding{{
			Level: extension.Warn, Subject: "python", Text: err.Error(),
			Hint: "only needed for Python extensions, of which there are none",
		}}
	}
	if err != nil {
		return []extension.Finding{{
			Level: extension.Error, Subject: "python", Text: err.Error(),
			Hint: extension.Count(len(active), "extension") + " cannot run without it",
		}}
	}
	p := source.Interpreter
	list := []extension.Finding{{
		Subject: "python", Text: fmt.Sprintf("%s, %s (from %s)", p.Version(), p.Path, p.Origin),
	}}
	if len(active) == 0 {
		return list
	}
	return append(list, checkLoading(ctx, &source, limit)...)
}

// checkLoading loads the extensions.
func checkLoading(ctx context.Context, source *Source, limit time.Duration) (list []extension.Finding) {
	loaded, err := source.Load(ctx)
	for _, l := range loaded {
		if l.Error != "" {
			list = append(list, extension.Finding{
				Level: extension.Error, Subject: "extension " + l.Name, Text: l.Error,
				Hint: fmt.Sprintf("mend %s and look again: aura extensions inspect %s", l.Path, l.Name),
			})
		}
	}
	switch {
	case ctx.Err() != nil:
		list = append(list, extension.Finding{
			Level: extension.Error, Subject: "extensions", Text: fmt.Sprintf("not loaded within %s", limit),
			Hint: "start with --without-extensions, and add them one by one",
		})
	case err != nil && len(list) == 0:
		list = append(list, extension.Finding{Level: extension.Error, Subject: "extensions", Text: err.Error()})
	case len(list) == 0:
		text := extension.Count(len(Active(source.Found)), "extension")
		list = append(list, extension.Finding{Subject: "extensions", Text: text})
	}
	return list
}
