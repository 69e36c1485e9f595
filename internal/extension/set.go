package extension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Set is what all kinds have loaded for a session. Its methods may be called by several
// goroutines.
type Set struct {
	pipeline *lifecycle.Pipeline

	builtin []tool.Tool // What is there without any extension.

	reload sync.Mutex // Held while a generation is replaced.

	mu  sync.Mutex
	now *generation
}

// generation is what one load came to.
type generation struct {
	kinds  []Kind
	loaded []Loaded

	mu      sync.Mutex
	started bool // What starts in the background is there.
}

// Open loads all kinds and binds their handlers to the pipeline. Mistakes of several
// kinds are reported together, and what was loaded is then released. builtin are the
// tools that are there without any extension.
func Open(ctx context.Context, p *lifecycle.Pipeline, kinds []Kind, builtin []tool.Tool) (*Set, error) {
	g, err := load(ctx, kinds, nil, builtin)
	if err != nil {
		return nil, err
	}
	g.begin()
	s := &Set{pipeline: p, builtin: builtin, now: g}
	s.bind(g)
	return s, nil
}

// load loads all kinds at the same time.
func load(ctx context.Context, kinds []Kind, previous *generation, builtin []tool.Tool) (*generation, error) {
	g := &generation{kinds: kinds, loaded: make([]Loaded, len(kinds))}
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds {
		wg.Go(func() { g.loaded[i], errs[i] = k.load(ctx, previous.of(k.Name)) })
	}
	wg.Wait()
	err := errors.Join(errs...)
	if ctx.Err() != nil {
		err = ctx.Err() // No extension is to blame.
	}
	if err != nil {
		g.close()
		return nil, err
	}
	if _, _, err := g.tools(builtin); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// load is Load with a panic turned into an error: one kind must not end the program.
func (k *Kind) load(ctx context.Context, previous *Loaded) (l Loaded, err error) {
	defer func() {
		if v := recover(); v != nil {
			l, err = Loaded{}, fmt.Errorf("%s: panic while loading: %v", k.Name, v)
		}
	}()
	return k.Load(ctx, previous)
}

// Reload loads the kinds anew and puts them in the place of the old ones. accept is
// called when the new ones are loaded and answer the set's questions, to do whatever
// else must change with them; if it fails, the old ones stay in force. The old ones are
// released last.
func (s *Set) Reload(ctx context.Context, kinds []Kind, accept func() error) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	old := s.current()
	next, err := load(ctx, kinds, old, s.builtin)
	if err != nil {
		return err
	}
	next.ready(ctx)
	if ctx.Err() != nil { // What is not loaded to the end must not take the place of what is.
		next.close()
		return ctx.Err()
	}
	s.use(next)
	if err := accept(); err != nil {
		s.use(old)
		next.close()
		return err
	}
	next.begin()
	s.bind(next)
	old.close()
	return nil
}

func (s *Set) current() *generation {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *Set) use(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = g
}

// Ready waits for what starts in the background and puts it in force. Later calls cost
// nothing. It reports whether it had to wait for anything.
func (s *Set) Ready(ctx context.Context) bool {
	s.reload.Lock()
	defer s.reload.Unlock()
	g := s.current()
	if !g.ready(ctx) || ctx.Err() != nil {
		return false
	}
	s.bind(g)
	return true
}

// bind puts the handlers of a generation in force.
func (s *Set) bind(g *generation) {
	for i, k := range g.kinds {
		if k.Handlers != "" {
			s.pipeline.Bind(k.Handlers, ask(g.loaded[i].Bindings))
		}
	}
}

// Close releases everything.
func (s *Set) Close() { s.current().close() }

// Find returns the kind's own view of what was loaded that is a T; the zero T if there
// is none.
func Find[T any](s *Set) (found T) {
	if g := s.current(); g != nil {
		for _, l := range g.loaded {
			if v, ok := l.Value.(T); ok {
				return v
			}
		}
	}
	return found
}

// Tools adds the tools of all kinds to the built-in ones. A tool that says so replaces
// one of its name; otherwise a name that is taken stays with who has it. Conflicts that
// are errors have been reported by Open.
func (s *Set) Tools(builtin []tool.Tool) []tool.Tool {
	all, _, _ := s.current().tools(builtin)
	return all
}

// Commands are the slash commands of all kinds, by rank.
func (s *Set) Commands() []tool.Command {
	return collect(s.current(), func(l *Loaded) func() []tool.Command { return l.Commands })
}

// Prompts are the paragraphs that extensions add to the system prompt.
func (s *Set) Prompts() []string {
	return collect(s.current(), func(l *Loaded) func() []string { return l.Prompts })
}

// Listing is what there is of one kind.
type Listing struct {
	Kind  Kind
	Items []Item
	Err   error // Why nothing of it is in force.
}

// List describes everything of every kind, by rank. It starts nothing.
func (s *Set) List() []Listing {
	g := s.current()
	if g == nil {
		return nil
	}
	list := make([]Listing, len(g.kinds))
	for i, k := range g.kinds {
		list[i] = Listing{Kind: k, Items: ask(g.loaded[i].List)}
		if g.loaded[i].Err != nil {
			list[i].Err = g.loaded[i].Err()
		}
		for j := range list[i].Items {
			list[i].Items[j].Kind = k.Name
		}
	}
	return list
}

// Kinds names all kinds, by rank.
func (s *Set) Kinds() (names []string) {
	for _, l := range s.List() {
		names = append(names, l.Kind.Name)
	}
	return names
}

// Items describes everything of the named kinds, by rank; of all if none is named. The
// list is never nil.
func (s *Set) Items(kinds ...string) []Item {
	items := []Item{}
	for _, l := range s.List() {
		if len(kinds) > 0 && !slices.Contains(kinds, l.Kind.Name) {
			continue
		}
		for _, x := range l.Items {
			if x.Problem == "" && l.Err != nil && x.Status == "off" {
				x.Problem = l.Err.Error()
			}
			items = append(items, x)
		}
	}
	return items
}

// Problems is what the user should know: about single extensions, and about tools that
// had to be left out because their names are taken.
func (s *Set) Problems() []Problem {
	g := s.current()
	if g == nil {
		return nil
	}
	var out []Problem
	for i, k := range g.kinds {
		for _, p := range ask(g.loaded[i].Problems) {
			p.Kind = k.Name
			out = append(out, p)
		}
	}
	_, left, _ := g.tools(s.builtin)
	return append(out, left...)
}

// of is what a kind has loaded; nil if there is none.
func (g *generation) of(kind string) *Loaded {
	if g == nil {
		return nil
	}
	i := slices.IndexFunc(g.kinds, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		return nil
	}
	return &g.loaded[i]
}

func (g *generation) begin() {
	for _, l := range g.loaded {
		if l.Begin != nil {
			l.Begin()
		}
	}
}

// ready waits for what starts in the background and reports whether anything did.
func (g *generation) ready(ctx context.Context) (waited bool) {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started {
		return false
	}
	for _, l := range g.loaded {
		if l.Ready != nil {
			l.Ready(ctx)
			waited = true
		}
	}
	g.started = ctx.Err() == nil // Else it is waited for again.
	return waited
}

func (g *generation) close() {
	if g == nil {
		return
	}
	for _, l := range slices.Backward(g.loaded) {
		if l.Close != nil {
			l.Close()
		}
	}
}

// tools merges the tools of all kinds into the built-in ones.
func (g *generation) tools(builtin []tool.Tool) (all []tool.Tool, left []Problem, err error) {
	all = builtin
	if g == nil {
		return all, nil, nil
	}
	for i, k := range g.kinds {
		var out []Problem
		var wrong error
		all, out, wrong = Merge(all, ask(g.loaded[i].Tools), k.Taken)
		for j := range out {
			out[j].Kind = k.Name
		}
		left, err = append(left, out...), errors.Join(err, wrong)
	}
	return all, left, err
}

// Merge adds tools to others, which it leaves as they are. A tool that says so replaces
// one of its name. Otherwise it is left out: left tells about those for which taken has
// no error, err is the errors of the rest.
func Merge(base, more []tool.Tool, taken func(t, owner tool.Tool) error) (all []tool.Tool, left []Problem, err error) {
	all = slices.Clone(base)
	var errs []error
	for _, t := range more {
		at := slices.IndexFunc(all, func(other tool.Tool) bool { return other.Name == t.Name })
		switch {
		case at < 0:
			all = append(all, t)
		case t.Override:
			all[at] = t
		case taken != nil:
			errs = append(errs, taken(t, all[at]))
		default:
			text := fmt.Sprintf("tool %q is left out: there is one of that name (%s)", t.Name, owner(all[at].Source))
			left = append(left, Problem{Name: t.Source.Name, Text: text})
		}
	}
	return all, left, errors.Join(errs...)
}

// ToolsOf loads a kind for the tools that it brings, and releases it again. What cannot be
// loaded brings none.
func ToolsOf(ctx context.Context, k Kind) []tool.Tool {
	g, err := load(ctx, []Kind{k}, nil, nil)
	if err != nil {
		return nil
	}
	defer g.close()
	g.begin()
	g.ready(ctx)
	return ask(g.loaded[0].Tools)
}

// owner names where a tool comes from.
func owner(s tool.Source) string {
	if s.Kind == "builtin" || s.Kind == "" {
		return "built in"
	}
	return strings.TrimSpace(s.Kind + " " + s.Name)
}

// collect asks all kinds for one thing.
func collect[T any](g *generation, what func(*Loaded) func() []T) (all []T) {
	if g == nil {
		return nil
	}
	for i := range g.loaded {
		all = append(all, ask(what(&g.loaded[i]))...)
	}
	return all
}

// ask calls f, if there is one.
func ask[T any](f func() []T) []T {
	if f == nil {
		return nil
	}
	return f()
}
