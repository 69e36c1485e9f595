package conversation

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

// begin is an empty conversation with tools; those that begin with R must be loaded.
func begin(tools ...string) *Conversation {
	c := New(nil, func(pattern, name string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return pattern == name || wild && strings.HasPrefix(name, prefix)
	})
	var list []Tool
	for _, name := range tools {
		list = append(list, Tool{Name: name, Bytes: 40, Deferred: name[0] == 'R'})
	}
	c.Offer.SetTools(list)
	return c
}

func names(list []Tool) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func TestOffer(t *testing.T) {
	o := &begin("Ls", "Write", "Bash", "Done", "Rare", "Rich").Offer
	offers := func(done bool, want string) {
		t.Helper()
		if got := names(o.Offered(done)); got != want {
			t.Errorf("offered %s, want %s", got, want)
		}
	}
	offers(true, "Ls Write Bash Done")
	offers(false, "Ls Write Bash")
	o.Load("Rare")
	o.Load("Rare")
	offers(true, "Ls Write Bash Done Rare")
	o.Disable("R*", "Ls")
	o.Disable("Bash")
	o.Disable()
	offers(false, "Write")
	if got := o.Disabled(); !slices.Equal(got, []string{"R*", "Ls", "Bash"}) {
		t.Errorf("disabled %v", got)
	}
	o.Enable()
	o.Hide([]string{"Write"})
	offers(false, "Ls Bash Rare")
	if !o.Hidden("Write") || o.Hidden("Ls") {
		t.Error("hidden")
	}
	o.Hide(nil)
	o.Restore([]string{"Rich"})
	offers(false, "Ls Write Bash Rich")
	if got := names(o.All()); got != "Ls Write Bash Done Rare Rich" {
		t.Errorf("all %s", got)
	}
	if got := o.Loaded(); !slices.Equal(got, []string{"Rich"}) {
		t.Errorf("loaded %v", got)
	}
}

func TestStats(t *testing.T) {
	var s Stats
	s.Reset()
	s.AddInteraction()
	s.AddTurn()
	s.AddIteration()
	s.AddParseRetry()
	s.AddCompaction()
	s.Spend(3, 4)
	s.Spend(10, 20)
	for _, name := range []string{"B", "A", "C", "C"} {
		s.AddCall(name, name == "A")
	}
	saved := s.Snapshot()
	saved.Duration += time.Hour
	var next Stats
	next.Restore(saved)
	next.AddCall("A", false)
	got := next.Snapshot()
	if got.Interactions != 1 || got.Turns != 1 || got.Iterations != 1 ||
		got.ParseRetries != 1 || got.Compactions != 1 ||
		got.TokensIn != 13 || got.TokensOut != 24 || got.ToolErrors != 1 || got.ToolCalls != 5 {
		t.Errorf("%+v", got)
	}
	if top := fmt.Sprint(got.TopTools); top != "[{A 2} {C 2} {B 1}]" {
		t.Errorf("top tools %s", top)
	}
	if got.Duration < time.Hour || time.Since(got.StartTime) < time.Hour {
		t.Errorf("start %v, duration %v", got.StartTime, got.Duration)
	}
}

func TestLabel(t *testing.T) {
	c := begin()
	c.Label.Propose("  a rather long first line\nand more", 0)
	if c.Label.Title() != "" {
		t.Errorf("title %q without a length", c.Label.Title())
	}
	said := "  a rather long first line\nand more"
	c.Label.Propose(said, 10)
	c.Label.Propose("another", 10)
	if got := c.Label.Title(); got != "a rather…" {
		t.Errorf("title %q", got)
	}
	if c.WantsTitle(said, 10) {
		t.Error("a title is wanted before the first turn")
	}
	c.Stats.AddTurn()
	if !c.WantsTitle(said, 10) || c.WantsTitle(said, 0) || c.WantsTitle("another", 10) {
		t.Error("a title is wanted after the first turn, if the user did not set one")
	}
	c.Label.Set("t", "n")
	if c.Label.Title() != "t" || c.Label.Name() != "n" || c.WantsTitle(said, 10) {
		t.Error("label")
	}
}

// The snapshot is the facts, completed.
func TestSnapshot(t *testing.T) {
	list := &todo.List{}
	list.Replace("", []todo.Item{{Content: "a", Status: todo.Pending}, {Content: "b", Status: todo.Completed}})
	c := New(list, func(pattern, name string) bool { return pattern == name })
	c.Offer.SetTools([]Tool{{Name: "Read"}, {Name: "Rare", Deferred: true}, {Name: DoneTool}})
	c.History.Replace(messages(t, "u:one a:look+x t:x s:psst d:note a:1"))
	c.Label.SetTitle("title")
	c.Offer.Load("Rare")
	c.Turn.Begin()
	c.Turn.Next()
	c.Turn.SetResponse(Response{Textless: true, Calls: true})
	c.Turn.AddCall(sdk.ToolCall{Name: "Edit"}, []string{"a.go", "b.go"})
	c.Turn.AddCall(sdk.ToolCall{Name: "Edit"}, []string{"a.go"})
	facts := sdk.Context{Agent: "main", Auto: true, ModelInfo: sdk.ModelInfo{ContextLength: 1000}, SystemPrompt: "p"}
	s := c.Snapshot(facts)
	if s.Agent != "main" || !s.Auto || s.SystemPrompt != "p" || s.Tokens.Max != 1000 || s.Tokens.Estimate == 0 ||
		s.MessageCount != 6 || s.SessionTitle != "title" || s.Iteration != 1 || s.TodoPending != 1 || s.TodoTotal != 2 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.AvailableTools, []string{"Read", "Rare"}) || !slices.Equal(s.LoadedTools, []string{"Rare"}) {
		t.Errorf("tools %v, loaded %v", s.AvailableTools, s.LoadedTools)
	}
	if got := fmt.Sprint(s.Turns); got != "[{user one} {assistant look} {assistant 1}]" {
		t.Errorf("turns %s", got)
	}
	if s.ResponseEmpty || !s.ResponseContentEmpty || !s.HasToolCalls || len(s.ToolHistory) != 2 ||
		!maps.Equal(s.PatchCounts, map[string]int{"a.go": 2, "b.go": 1}) {
		t.Errorf("%+v", s)
	}
	// What is handed out stays as it is.
	c.Turn.AddCall(sdk.ToolCall{Name: "Edit"}, []string{"a.go"})
	c.History.Add(messages(t, "u:two")[0])
	if s.PatchCounts["a.go"] != 2 || len(s.ToolHistory) != 2 || len(s.Turns) != 3 {
		t.Errorf("changed afterwards: %+v", s)
	}
	c.Turn.End()
	c.Reset()
	s = c.Snapshot(facts)
	if s.Iteration != 0 || s.MessageCount != 0 || len(s.Turns) != 0 || s.TodoTotal != 0 || s.SessionTitle != "" ||
		len(s.LoadedTools) != 0 {
		t.Errorf("after Reset: %+v", s)
	}
}

// While tools run side by side they count, load, and ask for snapshots.
func TestConcurrentUse(t *testing.T) {
	c := begin("Ls", "Done", "Rare")
	c.Turn.Begin()
	c.Turn.Next()
	c.Turn.ExpectResults(8)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				name := fmt.Sprintf("T%d", i)
				c.Stats.AddCall(name, n%2 == 0)
				c.Stats.Spend(1, 1)
				c.Turn.AddCall(sdk.ToolCall{Name: name}, []string{"a"})
				c.Turn.AddResult("text")
				c.Offer.Load(name)
				c.Offer.Disable(name)
				c.Tokens.Learn(10, 10)
				c.Label.SetTitle(name)
				c.History.Add(messages(t, "u:hi")[0])
				c.History.Sent()
				c.SetSystem(name)
				_ = c.Snapshot(sdk.Context{})
				_ = c.Plan(2)
			}
		})
	}
	wg.Wait()
	s := c.Snapshot(sdk.Context{})
	if s.Stats.ToolCalls != 400 || s.Stats.ToolErrors != 200 || s.Stats.TokensIn != 400 || s.PatchCounts["a"] != 400 ||
		s.MessageCount != 400 || len(s.LoadedTools) != 8 {
		t.Errorf("%+v", s.Stats)
	}
}

// A snapshot and a request of a long conversation cost as much as those of a short one.
func TestLongConversation(t *testing.T) {
	cost := func(turns int) float64 {
		c := long(t, turns)
		return testing.AllocsPerRun(20, func() {
			c.History.Add(messages(t, "a:ok")[0])
			_ = c.Snapshot(sdk.Context{})
			_ = c.History.Sent()
			c.History.Prune()
		})
	}
	if short, much := cost(10), cost(2000); much > short+2 { // A growing slice is copied now and then.
		t.Errorf("%.0f allocations with 10 turns, %.0f with 2000", short, much)
	}
}

// long is a conversation of many turns with a tool call in each.
func long(t testing.TB, turns int) *Conversation {
	c := begin("Ls", "Write", "Bash", "Edit", "Done", "Rare")
	for range turns {
		for _, m := range messages(t, "u:question a:look+x t:x a:answer") {
			c.History.Add(m)
		}
	}
	c.History.Sent()
	return c
}

func BenchmarkSnapshot(b *testing.B) {
	for _, turns := range []int{10, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			c := long(b, turns)
			for b.Loop() {
				_ = c.Snapshot(sdk.Context{})
			}
		})
	}
}

func BenchmarkSent(b *testing.B) {
	for _, turns := range []int{10, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			c := long(b, turns)
			for b.Loop() {
				_ = c.History.Sent()
			}
		})
	}
}

// The package is data: it reaches neither files nor the network, logs nothing, and waits
// for nobody.
func TestNoIO(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			top, _, _ := strings.Cut(name, "/")
			if slices.Contains([]string{"context", "os", "io", "net", "log", "syscall", "bufio"}, top) ||
				strings.HasSuffix(name, "internal/provider") || strings.HasSuffix(name, "internal/session") {
				t.Errorf("%s imports %s", file, name)
			}
		}
	}
}
