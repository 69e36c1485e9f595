package config

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
	"go.yaml.in/yaml/v4"
)

// Hook is a shell command that runs by itself at a moment of the session.
type Hook struct {
	Source Source `yaml:"-"`
	Name   string `yaml:"-"` // Key in the file.

	Description string `yaml:"description"` // For prompts and listings.
	Event       string `yaml:"event" enum:"pre post session_start user_message before_chat after_response on_error before_compaction after_compaction agent_switch session_end"`
	Matcher     string `yaml:"matcher"` // Regular expression for the name of the tool; empty matches all.
	Files       string `yaml:"files"`   // Glob for base names of the call's paths; without a match the hook is skipped.
	Command     string `yaml:"command"`

	Timeout time.Duration `yaml:"timeout"` // 0 is the default.
	Depends []string      `yaml:"depends"` // Hooks of the same event that run before.
	Inherit []string      `yaml:"inherit"` // Hooks whose keys apply where this one writes none.
	Silent  bool          `yaml:"silent"`  // Discard output and exit codes.

	Disabled  *bool    `yaml:"disabled"`                      // Nil is enabled.
	OnFailure string   `yaml:"on_failure" enum:"allow block"` // What a gate that fails means; empty is allow.
	Env       []string `yaml:"env"`                           // Variables that reach the command; nil is all.
	Foreign   string   `yaml:"-"`                             // Event as another program calls it, for imported hooks.
}

// Enabled reports whether the hook takes part at all.
func (h Hook) Enabled() bool { return h.Disabled == nil || !*h.Disabled }

// OnTool reports whether the hook runs around tool calls.
func (h Hook) OnTool() bool { return h.Event == "pre" || h.Event == "post" }

// maxHooks bounds the hooks of all homes; what they inherit and depend on is
// followed from each of them.
const maxHooks = 1000

// Hooks are all hooks by name, inheritance applied.
type Hooks map[string]Hook

// Events lists the events that have hooks, sorted.
func (h Hooks) Events() []string {
	var list []string
	for _, hook := range h {
		if !slices.Contains(list, hook.Event) {
			list = append(list, hook.Event)
		}
	}
	slices.Sort(list)
	return list
}

// Sort puts the hooks of an event in running order: by name, each one after those it
// depends on. Disabled hooks and what depends on them are left out. A dependency that
// does not exist, is of another event or leads back to the hook is an error; all are
// reported, as Errors.
func (h Hooks) Sort(event string) ([]string, error) {
	s := sorter{hooks: h, event: event, state: map[string]visit{}}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if h[name].Event == event {
			s.check(name)
		}
	}
	if err := s.errs.Err(); err != nil {
		return nil, err
	}
	s.state = map[string]visit{}
	out := h.Prune(func(Hook) bool { return true })
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if h[name].Event == event && !out[name] {
			s.emit(name)
		}
	}
	return s.order, nil
}

// Prune names the hooks that do not run when only those that keep lets through may:
// the others, disabled ones, and everything that depends on any of them.
func (h Hooks) Prune(keep func(Hook) bool) map[string]bool {
	out := make(map[string]bool, len(h))
	var judge func(name string) bool
	judge = func(name string) bool {
		gone, known := out[name]
		if known {
			return gone
		}
		hook := h[name]
		out[name] = !hook.Enabled() || !keep(hook) // Also ends circles.
		if !out[name] {
			out[name] = slices.ContainsFunc(hook.Depends, judge)
		}
		return out[name]
	}
	for name := range h {
		judge(name)
	}
	maps.DeleteFunc(out, func(_ string, gone bool) bool { return !gone })
	return out
}

type visit int

const (
	unseen visit = iota
	open
	finished
)

// sorter is the state of one Sort.
type sorter struct {
	hooks Hooks
	event string
	errs  Errors
	state map[string]visit
	path  []string
	order []string
}

// check reports the mistakes in what name depends on, each cycle once.
func (s *sorter) check(name string) {
	hook := s.hooks[name]
	s.state[name] = open
	s.path = append(s.path, name)
	for _, d := range hook.Depends {
		other, ok := s.hooks[d]
		switch {
		case !ok:
			s.fail(hook, "no hook %q%s", wording.Short(d), wording.Hint(d, "hooks", s.peers(name)))
		case other.Event != s.event && (other.Enabled() || other.Event != ""):
			s.fail(hook, "hook %q runs at event %s, not %s", d, other.Event, s.event)
		case s.state[d] == open:
			circle := s.path[slices.Index(s.path, d):]
			s.fail(hook, "hooks depend on each other in a circle: %s -> %s", strings.Join(circle, " -> "), d)
		case s.state[d] == unseen && other.Event == s.event:
			s.check(d)
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.state[name] = finished
}

func (s *sorter) fail(h Hook, format string, args ...any) {
	s.errs.Add(h.Source.File, h.Source.Line, strictyaml.Join(h.Name, "depends"), format, args...)
}

// peers are the hooks that name could depend on.
func (s *sorter) peers(name string) []string {
	var list []string
	for other, h := range s.hooks {
		if other != name && h.Event == s.event {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	return list
}

// emit adds the hook after its dependencies.
func (s *sorter) emit(name string) {
	if s.state[name] != unseen {
		return
	}
	s.state[name] = finished
	for _, d := range slices.Sorted(slices.Values(s.hooks[name].Depends)) {
		s.emit(d)
	}
	s.order = append(s.order, name)
}

// hooks reads a file of hooks.
func (l *loader) hooks(f File) {
	d, n := l.yaml(f)
	if n == nil {
		l.broken["hooks"] = l.broken["hooks"] || d == nil
		return
	}
	d.Pairs(n, "", func(key, value *yaml.Node, path string) {
		var h Hook
		for value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		before := len(l.errs)
		d.Decode(value, &h, path)
		checkHook(d, h, value, path)
		if len(l.errs) > before {
			l.broken["hooks"] = true
		}
		def := &definition{
			Identity: Identity{Name: key.Value, Inherit: h.Inherit}, node: value,
			source: Source{File: f.Path, Home: f.Home, Line: key.Line},
		}
		switch n := len(l.hookDefs); {
		case n < maxHooks:
			l.hookDefs = append(l.hookDefs, def)
		case !l.broken["hooks"]:
			l.broken["hooks"] = true
			d.Errorf(key, path, "more than %d hooks", maxHooks)
		}
	})
}

// checkHook finds mistakes in the values that a hook writes down itself.
func checkHook(d *strictyaml.Decoder, h Hook, n *yaml.Node, path string) {
	at := func(key string) (*yaml.Node, string) { return strictyaml.Find(n, key), strictyaml.Join(path, key) }
	if _, err := regexp.Compile(h.Matcher); err != nil {
		v, p := at("matcher")
		d.Errorf(v, p, "%v", err)
	}
	if _, err := filepath.Match(h.Files, ""); err != nil {
		v, p := at("files")
		d.Errorf(v, p, "%q is not a valid glob", wording.Short(h.Files))
	}
	if err := sh.Parse(h.Command); err != nil {
		v, p := at("command")
		d.Errorf(v, p, "%v", err)
	}
}

// buildHook decodes a chain of definitions over each other, the hook itself last.
func buildHook(chain []*definition) Hook {
	var h Hook
	for _, def := range chain {
		h.Inherit = nil
		def.decode(&h)
		h.Source, h.Name = def.source, def.Name
	}
	return h
}

// assembleHooks applies inheritance and shadowing, and checks what came of it.
func (l *loader) assembleHooks() {
	l.cfg.Hooks = Hooks{}
	for _, h := range assembleKind(l, "hook", l.hookDefs, buildHook) {
		if old, ok := l.cfg.Hooks[h.Name]; ok && old.Source.Home == h.Source.Home {
			l.errs.Add(
				h.Source.File,
				h.Source.Line,
				h.Name,
				"hook is already defined in %s:%d",
				old.Source.File,
				old.Source.Line,
			)
		}
		l.cfg.Hooks[h.Name] = h // Of several homes the last wins.
	}
	if l.broken["hooks"] {
		return // What is missing may stand in what could not be read.
	}
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Hooks)) {
		l.cfg.Hooks[name].check(&l.errs)
	}
	for _, event := range l.cfg.Hooks.Events() {
		if _, err := l.cfg.Hooks.Sort(event); err != nil {
			l.errs = append(l.errs, err.(Errors)...)
		}
	}
}

// check finds mistakes that only show when inheritance is applied.
func (h Hook) check(errs *Errors) {
	if !h.Enabled() {
		return // It may be nothing but a parent.
	}
	fail := func(key, format string, args ...any) {
		errs.Add(h.Source.File, h.Source.Line, strictyaml.Join(h.Name, key), format, args...)
	}
	if h.Event == "" {
		fail("event", "missing (write event: pre or event: post)")
		return
	}
	if strings.TrimSpace(h.Command) == "" {
		fail("command", "missing")
	}
	if !h.OnTool() {
		for _, k := range []struct{ key, value string }{{"matcher", h.Matcher}, {"files", h.Files}} {
			if k.value != "" {
				fail(k.key, "only hooks at event pre or post can have one, this one runs at %s", h.Event)
			}
		}
	}
	switch {
	case h.OnFailure != "block":
	case h.Event != "pre" && h.Event != "user_message":
		fail("on_failure", "nothing can be blocked at event %s (only at pre and user_message)", h.Event)
	case h.Silent:
		fail("on_failure", "a silent hook cannot block (write silent: false)")
	}
}
