package foreign

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func value(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return n, nil }
}

func TestCall(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for _, tt := range []struct {
		name  string
		limit time.Duration
		f     func(context.Context) (int, error)
		want  int
		err   string
	}{
		{"in place", 0, value(1), 1, ""},
		{"in time", time.Minute, value(2), 2, ""},
		{"error", time.Minute, func(context.Context) (int, error) { return 3, failed }, 3, "failed"},
		{"panic in place", 0, func(context.Context) (int, error) { panic("boom") }, 0, "panic: boom"},
		{"panic", time.Minute, func(context.Context) (int, error) { panic("boom") }, 0, "panic: boom"},
		{"late", time.Millisecond, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 4, ctx.Err()
		}, 0, "timed out after 1ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := NewGuard("code", nil)
			defer g.Release()
			got, err := Call(t.Context(), g, tt.limit, tt.f)
			if text := textOf(err); got != tt.want || text != tt.err {
				t.Errorf("got %d, %q; want %d, %q", got, text, tt.want, tt.err)
			}
			if err := g.Err(); err != nil {
				t.Errorf("switched off: %v", err)
			}
		})
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Code that does not stop is switched off, stopped by what its kind knows, and named.
func TestRunaway(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	g := NewGuard(`plugin "p"`, func(string) { close(release) })
	_, err := Call(t.Context(), g, time.Millisecond, func(context.Context) (int, error) {
		<-release
		return 1, nil
	})
	want := `timed out after 1ms and does not stop: plugin "p" is switched off until /reload`
	if textOf(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	<-g.Ended()
	want = `plugin "p" is switched off: a call did not end when its time was up; /reload starts it again`
	if _, err := Call(t.Context(), g, 0, value(1)); textOf(err) != want {
		t.Errorf("afterwards: %v, want %s", err, want)
	}
	if g.SwitchOff("again") {
		t.Error("switched off twice")
	}
}

// A caller that gives up does not wait.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	g, gone, release := NewGuard("code", nil), errors.New("gone"), make(chan struct{})
	defer close(release)
	started := make(chan struct{})
	go func() {
		<-started
		cancel(gone)
	}()
	_, err := Call(ctx, g, time.Minute, func(context.Context) (int, error) {
		close(started)
		<-release
		return 1, nil
	})
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// Calls that overlap do not wait for each other, and a nil guard guards too.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, g := range []*Guard{nil, NewGuard("code", nil), NewGuard("code", func(string) {})} {
		var meet, wg sync.WaitGroup
		meet.Add(8)
		for range 8 {
			wg.Go(func() {
				_, err := Call(t.Context(), g, time.Minute, func(context.Context) (int, error) {
					meet.Done()
					meet.Wait()
					return 1, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if g != nil {
			g.Release()
		}
	}
}

func BenchmarkCall(b *testing.B) {
	g := NewGuard("code", func(string) {})
	defer g.Release()
	for b.Loop() {
		if _, err := Call(b.Context(), g, time.Minute, value(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// A call that meets a release either runs or is refused, and its caller goes on.
func TestRelease(t *testing.T) {
	t.Parallel()
	for range 1000 {
		g := NewGuard("code", func(string) {})
		_, _ = Call(t.Context(), g, time.Minute, value(1)) // Starts the goroutine.
		var wg sync.WaitGroup
		wg.Go(g.Release)
		wg.Go(func() {
			if n, err := Call(t.Context(), g, time.Minute, value(1)); n != 1 && err == nil {
				t.Error("neither a value nor an error")
			}
		})
		wg.Wait()
	}
}

// Calls that do not overlap share a goroutine, whose stack has grown.
func TestOneGoroutine(t *testing.T) {
	t.Parallel()
	g := NewGuard("code", func(string) {})
	defer g.Release()
	for range 100 {
		if _, err := Call(t.Context(), g, time.Minute, func(context.Context) (int, error) {
			if !g.busy.Load() {
				return 0, errors.New("in a goroutine of its own")
			}
			return 1, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
