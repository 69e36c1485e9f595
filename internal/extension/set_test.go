package extension_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// fake is a kind that tells what happens to it.
type fake struct {
	name string
	err  error
	tool tool.Tool
	log  *[]string
}

func (f fake) kind(handlers lifecycle.Kind) extension.Kind {
	note := func(what string) { *f.log = append(*f.log, what+" "+f.name) }
	return extension.Kind{
		Name: "fakes", Handlers: handlers,
		Load: func(context.Context, *extension.Loaded) (extension.Loaded, error) {
			note("load")
			return extension.Loaded{
				Bindings: func() []lifecycle.Binding {
					return []lifecycle.Binding{{
						Source: lifecycle.Source{Name: f.name}, Moment: lifecycle.SessionStart,
						Handler: lifecycle.HandlerFunc(func(
							context.Context, *lifecycle.Event,
						) (lifecycle.Reply, error) {
							return lifecycle.Reply{Result: sdk.Result{Notice: f.name}}, nil
						}),
					}}
				},
				Tools: func() []tool.Tool { return []tool.Tool{f.tool} },
				List:  func() []extension.Item { return []extension.Item{{Name: f.name, Status: "active"}} },
				Ready: func(context.Context) { note("wait") },
				Begin: func() { note("begin") },
				Close: func() { note("close") },
				Value: f,
			}, f.err
		},
	}
}

func notices(t *testing.T, p *lifecycle.Pipeline) (out []string) {
	t.Helper()
	for _, n := range lifecycle.Emit(t.Context(), p, &sdk.SessionStartContext{}, nil).Notices {
		out = append(out, n.Text)
	}
	return out
}

// A reload loads, swaps and closes, in that order; one that is not accepted leaves
// everything as it was.
func TestReload(t *testing.T) {
	t.Parallel()
	var log []string
	p := lifecycle.New(lifecycle.Options{})
	one := fake{name: "one", log: &log, tool: tool.Tool{Name: "A"}}
	s, err := extension.Open(t.Context(), p, []extension.Kind{one.kind(lifecycle.Plugin)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	two := fake{name: "two", log: &log, tool: tool.Tool{Name: "B"}}
	refused := errors.New("refused")
	err = s.Reload(t.Context(), []extension.Kind{two.kind(lifecycle.Plugin)}, func() error {
		if names := toolNames(s.Tools(nil)); !slices.Equal(names, []string{"B"}) {
			t.Errorf("while it is accepted, the tools are %v", names)
		}
		return refused
	})
	if !errors.Is(err, refused) || extension.Find[fake](s).name != "one" || notices(t, p)[0] != "one" {
		t.Errorf("after a refusal: %v, %v, %v", err, extension.Find[fake](s).name, notices(t, p))
	}
	broken := fake{name: "broken", log: &log, err: errors.New("broken")}
	if err := s.Reload(t.Context(), []extension.Kind{broken.kind("")}, nil); err == nil {
		t.Error("a kind that cannot be loaded is accepted")
	}
	if err := s.Reload(
		t.Context(), []extension.Kind{two.kind(lifecycle.Plugin)}, func() error { return nil },
	); err != nil {
		t.Fatal(err)
	}
	if got := notices(t, p); !slices.Equal(got, []string{"two"}) {
		t.Errorf("handlers after a reload: %v", got)
	}
	s.Close()
	want := "load one, begin one, load two, wait two, close two, load broken, close broken, " +
		"load two, wait two, begin two, close one, close two"
	if got := strings.Join(log, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A reload that is cancelled while something still starts leaves everything as it was, and
// a kind that panics is an error.
func TestReloadCancelled(t *testing.T) {
	t.Parallel()
	var log []string
	p := lifecycle.New(lifecycle.Options{})
	one := fake{name: "one", log: &log}
	s, err := extension.Open(t.Context(), p, []extension.Kind{one.kind(lifecycle.Plugin)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow := fake{name: "slow", log: &log}.kind(lifecycle.Plugin)
	load := slow.Load
	slow.Load = func(ctx context.Context, previous *extension.Loaded) (extension.Loaded, error) {
		l, err := load(ctx, previous)
		l.Ready = func(context.Context) { cancel() }
		return l, err
	}
	err = s.Reload(ctx, []extension.Kind{slow}, func() error { t.Error("accepted"); return nil })
	if !errors.Is(err, context.Canceled) || !slices.Equal(notices(t, p), []string{"one"}) {
		t.Errorf("%v, handlers %v", err, notices(t, p))
	}
	if got := strings.Join(log, ", "); got != "load one, begin one, load slow, close slow" {
		t.Errorf("what happened: %s", got)
	}
	slow.Load = func(context.Context, *extension.Loaded) (extension.Loaded, error) { panic("boom") }
	if err := s.Reload(t.Context(), []extension.Kind{slow}, nil); err == nil ||
		err.Error() != "fakes: panic while loading: boom" {
		t.Errorf("a panic: %v", err)
	}
}

// Tools are merged by rank: the earlier kind has the name, unless the later one overrides.
func TestTools(t *testing.T) {
	t.Parallel()
	var log []string
	strict := fake{
		name: "strict", log: &log, tool: tool.Tool{Name: "A", Source: tool.Source{Kind: "x", Name: "strict"}},
	}
	builtin := []tool.Tool{{Name: "A", Source: tool.Source{Kind: "builtin"}}}
	p := lifecycle.New(lifecycle.Options{})
	k := strict.kind("")
	s, err := extension.Open(t.Context(), p, []extension.Kind{k}, builtin)
	if err != nil {
		t.Fatal(err)
	}
	problems := s.Problems()
	want := `tool "A" is left out: there is one of that name (built in)`
	if len(problems) != 1 || problems[0].Text != want || problems[0].Kind != "fakes" || problems[0].Name != "strict" {
		t.Errorf("problems: %+v", problems)
	}
	k.Taken = func(t, owner tool.Tool) error { return errors.New(t.Name + " is taken by " + owner.Source.Kind) }
	if _, err := extension.Open(t.Context(), p, []extension.Kind{k}, builtin); err == nil ||
		err.Error() != "A is taken by builtin" {
		t.Errorf("a conflict that is an error: %v", err)
	}
	strict.tool.Override = true
	if s, err = extension.Open(t.Context(), p, []extension.Kind{strict.kind("")}, builtin); err != nil {
		t.Fatal(err)
	}
	if all := s.Tools(builtin); len(all) != 1 || all[0].Source.Name != "strict" {
		t.Errorf("override: %+v", all)
	}
}

func toolNames(list []tool.Tool) (names []string) {
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}
