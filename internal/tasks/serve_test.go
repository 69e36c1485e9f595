package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/tasks"
)

// served is a Serve over real files, by a clock that stands still.
type served struct {
	t     *testing.T
	dir   string // Of the task files.
	clock *clockwork.FakeClock
	log   chan string     // What happened.
	hold  chan struct{}   // Runs of tasks that are called slow wait for it.
	run   context.Context // Of the last one of them.
	end   chan error
	stop  func()
}

// serve begins to serve files with that many tasks that have a schedule.
func serve(t *testing.T, scheduled int, files map[string]string) *served {
	home := t.TempDir()
	s := &served{
		t:     t,
		dir:   filepath.Join(home, "config", "tasks"),
		clock: clockwork.NewFakeClockAt(time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)),
		log:   make(chan string, 100),
		hold:  make(chan struct{}),
		end:   make(chan error, 1),
	}
	for name, text := range files {
		s.write(name, text)
	}
	now := time.Now()
	later := func() time.Time { now = now.Add(time.Second); return now }
	on := &tasks.Files{
		Now:  later,
		Find: func() (config.Homes, error) { return config.Homes{Projects: []string{home}}, nil },
	}
	list, err := on.Read()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	warned := ""
	go func() {
		s.end <- tasks.Serve(ctx, list, tasks.Service{
			Clock: s.clock,
			Run: func(ctx context.Context, x tasks.Task) {
				if x.Name != "slow" {
					s.log <- fmt.Sprintf("%s runs %s", x.Name, x.Commands)
					return
				}
				s.run = ctx
				s.log <- fmt.Sprintf("%s runs %s", x.Name, x.Commands)
				<-s.hold
				s.log <- fmt.Sprintf("%s ran %s", x.Name, x.Commands)
			},
			Skip: func(x tasks.Task, err error) { s.log <- x.Name + ": " + err.Error() },
			Look: func() ([]tasks.Task, bool) {
				list, read, err := on.Look()
				if !read { // So that a change settles.
					list, read, err = on.Look()
				}
				if text := fmt.Sprint(err); err != nil && text != warned {
					warned = text
					s.log <- text
				}
				return list, read
			},
			Changed: func(c tasks.Change) {
				s.log <- strings.Join(
					[]string{"+" + names(c.Added), "~" + names(c.Changed), "-" + names(c.Removed)}, " ",
				)
			},
		})
	}()
	t.Cleanup(func() {
		stop()
		close(s.hold)
		if err := <-s.end; err != nil {
			t.Error(err)
		}
		if len(s.log) > 0 {
			t.Errorf("left: %s", <-s.log)
		}
	})
	if err := s.clock.BlockUntilContext(t.Context(), scheduled+1); err != nil { // The ticker waits, too.
		t.Fatal(err)
	}
	return s
}

func names(list []tasks.Task) string {
	var out []string
	for _, x := range list {
		out = append(out, x.Name)
	}
	return strings.Join(out, ",")
}

// write writes a file at once, so that nobody sees half of it.
func (s *served) write(name, text string) {
	s.t.Helper()
	file, half := filepath.Join(s.dir, name), filepath.Join(s.t.TempDir(), "half")
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(half, []byte(text), 0o644),
		os.Rename(half, file),
	); err != nil {
		s.t.Fatal(err)
	}
}

// tick lets so much time pass that changes are looked for.
func (s *served) tick() { s.clock.Advance(time.Second) }

// want waits for what happens next.
func (s *served) want(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		select {
		case got := <-s.log:
			if !strings.Contains(got, text) {
				s.t.Fatalf("%q, want %q", got, text)
			}
		case err := <-s.end:
			s.end <- err
			s.t.Fatalf("it ended (%v), want %q", err, text)
		}
	}
}

// Files that are added, written and removed are noticed without a run of anything; a task
// whose schedule stays keeps its time.
func TestServeChanges(t *testing.T) {
	t.Parallel()
	s := serve(
		t,
		2,
		map[string]string{
			"a.yaml": "a: {schedule: {every: 1h}, commands: [one]}\nb: {schedule: {every: 3h}, commands: [b]}\n",
		},
	)
	s.clock.Advance(50 * time.Minute)
	s.write("deep/c.yaml", "c: {schedule: {every: 4h}, commands: [c]}\nnone: {commands: [n]}\n")
	s.tick()
	s.want("+c ~ -")
	s.write("a.yaml", "a: {schedule: {every: 1h}, commands: [one, two]}\nb: {schedule: {every: 3h}, commands: [b]}\n")
	s.tick()
	s.want("+ ~a -")
	s.clock.Advance(10 * time.Minute) // More than an hour since the start.
	s.want("a runs [one two]")
	// A task that is written as it was is not told. Another schedule counts from now on.
	s.write("a.yaml", "a: {schedule: {every: 1h}, commands: [one, two]}\n# b is gone.\n")
	s.tick()
	s.want("+ ~ -b")
	s.write("a.yaml", "a: {schedule: {every: 2m}, commands: [three]}\n")
	s.tick()
	s.want("+ ~a -")
	s.clock.Advance(2 * time.Minute)
	s.want("a runs [three]")
	if err := os.Rename(s.dir, filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	s.tick()
	s.want("+ ~ -a,c")
	s.clock.Advance(24 * time.Hour) // Nothing runs; it waits for tasks to come.
	s.write("d.yaml", "d: {schedule: {once: 2026-01-03T20:00}, commands: [d]}\n")
	s.tick()
	s.want("+d ~ -")
	s.clock.Advance(24 * time.Hour)
	s.want("d runs [d]")
	if err := <-s.end; err != nil {
		t.Error(err)
	}
	s.end <- nil
}

// What changed right before a run counts for it.
func TestServeChangedBeforeRun(t *testing.T) {
	t.Parallel()
	s := serve(
		t,
		2,
		map[string]string{
			"a.yaml": "a: {schedule: {every: 1s}, commands: [one]}\n",
			"b.yaml": "b: {schedule: {every: 1s}, commands: [b]}\n",
		},
	)
	s.write("a.yaml", "a: {schedule: {every: 1s}, commands: [two]}\n")
	if err := os.Remove(filepath.Join(s.dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Second)
	s.want("+ ~a -b", "a runs [two]")
}

// A mistake is told once; the tasks of the file go on as they were, those of other files
// change. So do tasks that inherit from it.
func TestServeMistake(t *testing.T) {
	t.Parallel()
	s := serve(t, 3, map[string]string{
		"a.yaml":     "a: {schedule: {every: 1h}, commands: [one]}\n",
		"b.yaml":     "b: {schedule: {every: 30h}, commands: [b]}\n",
		"child.yaml": "child: {inherit: [a], commands: [child]}\n",
	})
	s.write("a.yaml", "a:\n  schedule: {every: 1h}\n  comands: [two]\n")
	s.tick()
	s.want(`a.yaml:3: a.comands: unknown key`)
	s.write("b.yaml", "b: {schedule: {every: 31h}, commands: [b]}\n")
	s.tick()
	s.want("+ ~b -")
	s.clock.Advance(time.Hour)
	ran := <-s.log + <-s.log
	if !strings.Contains(ran, "a runs [one]") || !strings.Contains(ran, "child runs [child]") {
		t.Error(ran)
	}
	s.write("a.yaml", "a:\n  schedule: {every: 1h}\n  commands: [two]\n")
	s.tick()
	s.want("+ ~a -")
}

// A run is not disturbed when its task changes or goes, and never has company.
func TestServeRunGoesOn(t *testing.T) {
	t.Parallel()
	s := serve(
		t,
		2,
		map[string]string{
			"a.yaml": "slow: {schedule: {every: 1h}, commands: [one]}\nb: {schedule: {every: 90h}, commands: [b]}\n",
		},
	)
	s.clock.Advance(time.Hour)
	s.want("slow runs [one]")
	s.write("a.yaml", "b: {schedule: {every: 90h}, commands: [b]}\n")
	s.tick()
	s.want("+ ~ -slow")
	s.write("a.yaml", "slow: {schedule: {every: 1m}, commands: [two]}\nb: {schedule: {every: 90h}, commands: [b]}\n")
	s.tick()
	s.want("+slow ~ -")
	s.clock.Advance(time.Minute) // Left out: the run before goes on.
	s.write("a.yaml", "slow: {schedule: {every: 1m}, commands: [three]}\nb: {schedule: {every: 90h}, commands: [b]}\n")
	s.tick()
	s.want("+ ~slow -")
	if s.run.Err() != nil {
		t.Error("it was disturbed")
	}
	s.stop() // Whatever is left of the time that was left out.
	s.hold <- struct{}{}
	s.want("slow ran [one]")
}

// A file that is being written is read when that is over.
func TestFilesSettle(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config", "tasks", "a.yaml")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644),
		); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	files := &tasks.Files{
		Now:  func() time.Time { return now },
		Find: func() (config.Homes, error) { return config.Homes{Projects: []string{home}}, nil },
	}
	one, two := "a: {commands: [one]}\n", "a: {commands: [one]}\nb: {commands: [two]}\n"
	write(one)
	if _, err := files.Read(); err != nil {
		t.Fatal(err)
	}
	written := one
	for i, tt := range []struct {
		text  string
		after time.Duration // Since the step before.
		read  bool
		want  int
	}{
		{one, time.Hour, false, 1},
		{"", time.Hour, false, 1}, // Cut off,
		{"", 99 * time.Millisecond, false, 1},
		{two, time.Second, false, 1}, // and written.
		{two, 100 * time.Millisecond, true, 2},
		{two, time.Hour, false, 2},
		{"", time.Second, false, 2},
		{"", time.Second, true, 0},
	} {
		now = now.Add(tt.after)
		if tt.text != written {
			write(tt.text)
			written = tt.text
		}
		if list, read, err := files.Look(); err != nil || read != tt.read || len(list) != tt.want {
			t.Errorf("step %d: %q, %v, %v", i, names(list), read, err)
		}
	}
}
