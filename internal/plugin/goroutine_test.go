package plugin_test

import (
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// A panic in a goroutine of an interpreted plugin ends that goroutine and nothing else,
// and the user is told which plugin and where.
func TestGoroutinePanics(t *testing.T) {
	for name, body := range map[string]string{
		"literal":   `go func() { panic("boom") }()`,
		"named":     `go deep(3)`,
		"nested":    `go func() { deep(2) }()`,
		"method":    `go worker{}.run()`,
		"deferred":  `go func() { defer func() { panic("boom") }(); deep(0) }()`,
		"runtime":   `go func() { var m map[string]int; m["x"] = 1 }()`,
		"recovered": `go func() { func() { defer func() { recover() }(); deep(3) }(); deep(1) }()`,
		"timer":     `time.AfterFunc(time.Millisecond, func() { deep(1) })`,
		"context":   `ctx, cancel := context.WithCancel(context.Background()); context.AfterFunc(ctx, func() { deep(1) }); cancel()`,
		"group":     `var wg sync.WaitGroup; wg.Go(func() { deep(1) })`,
		"pointer":   `wg := &sync.WaitGroup{}; wg.Go(func() { deep(1) })`,
		"embedded":  `team := &team{}; team.Go(func() { deep(1) })`,
		"value":     `var wg sync.WaitGroup; start := wg.Go; start(func() { deep(1) })`,
		"variable":  `after := time.AfterFunc; after(time.Millisecond, func() { deep(1) })`,
		"library":   `go sort.Slice([]int{2, 1}, func(i, j int) bool { panic("boom") })`,
		"callback":  `go func() { sort.Slice([]int{2, 1}, func(i, j int) bool { panic("boom") }) }()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "probe", "", "time sync sort", `
var _ sync.Mutex
var _ = sort.Ints
var _ = time.Now

type worker struct{}

type team struct{ sync.WaitGroup }

func (worker) run() { deep(1) }

func deep(n int) {
	if n == 0 {
		panic("boom")
	}
	deep(n - 1)
}

func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) {
	`+body+`
	return sdk.Result{Message: "still here"}, nil
}`)
			told := make(chan string, 1)
			s := load(t, plugin.Options{Dirs: []string{dir}, Warn: func(text string) { told <- text }})
			for range 2 {
				if r := said(t, s); r != "still here" {
					t.Errorf("said %q", r)
				}
				if text := <-told; !strings.HasPrefix(
					text,
					"plugin probe: a goroutine that it started has ended: main.go:",
				) {
					t.Errorf("told %q", text)
				}
			}
		})
	}
}

// What code recovers from by itself, and what the host recovers from, is no end.
func TestGoroutineRecovers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "probe", "", "", `
func deep(n int) {
	if n == 0 {
		panic("boom")
	}
	deep(n - 1)
}

func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) {
	done := make(chan string)
	go func() {
		defer close(done)
		func() {
			defer func() { recover() }()
			deep(3)
		}()
		done <- "recovered"
	}()
	return sdk.Result{Message: <-done}, nil
}

func AfterResponse(context.Context, sdk.AfterResponseContext) (sdk.Result, error) { deep(2); return sdk.Result{}, nil }`)
	s := load(t, plugin.Options{Dirs: []string{dir}, Warn: func(text string) { t.Errorf("told %q", text) }})
	if r := said(t, s); r != "recovered" {
		t.Errorf("said %q", r)
	}
	out := dispatch(t, s, lifecycle.AfterResponse, &sdk.AfterResponseContext{})
	if len(out.Notices) != 1 || !strings.Contains(out.Notices[0].Text, "plugin panic: boom") {
		t.Errorf("notices %v", out.Notices)
	}
}
