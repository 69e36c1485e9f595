package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"github.com/idelchi/aura/internal/schedule"
)

// stopTime is how long running tasks get to end once they are cancelled: what their
// finally gets, and a little for what they are in the middle of.
const stopTime = finallyTime + 30*time.Second

// lookTime is how often Serve looks for changes, besides right before each run.
const lookTime = time.Second

// Service is what Serve needs besides the tasks. Run is required.
type Service struct {
	Run  func(context.Context, Task) // Called for every run; must not panic.
	Skip func(Task, error)           // Is told of tasks that do not run at their time.

	// Look gives the tasks as they are now; changed is false where they cannot have
	// changed since the last call. It is called often, never beside itself. nil: they
	// stay as they are.
	Look    func() (list []Task, changed bool)
	Changed func(Change) // Is told what a look changed, once that is in force.

	Clock clockwork.Clock // nil is that of the system.
}

// Change is what became of the tasks that have a schedule.
type Change struct{ Added, Changed, Removed []Task }

// Serve runs tasks on their schedules, each at most once at a time, until ctx ends or
// the only times of all tasks have passed. What is running when ctx ends is waited for.
// Tasks without a schedule do not take part. A task that changes runs in its new version
// from its next run on; one whose schedule stays keeps its times.
func Serve(ctx context.Context, list []Task, service Service) error {
	if service.Clock == nil {
		service.Clock = clockwork.NewRealClock()
	}
	scheduler, err := gocron.NewScheduler(gocron.WithStopTimeout(stopTime), gocron.WithClock(service.Clock))
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	s := &server{
		Service:   service,
		ctx:       ctx,
		done:      done,
		scheduler: scheduler,
		jobs:      map[string]*job{},
		running:   map[string]bool{},
	}
	s.apply(list)
	if len(s.jobs) == 0 {
		done()
	}
	scheduler.Start()
	s.endIfOver()
	ticker := service.Clock.NewTicker(lookTime)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.Chan():
			s.look()
		case <-ctx.Done():
		}
	}
	if err := scheduler.Shutdown(); err != nil {
		return fmt.Errorf("a task did not end: %w", err)
	}
	return nil
}

// server is the state of one Serve.
type server struct {
	Service
	ctx       context.Context // Of all runs.
	done      func()          // Ends ctx.
	scheduler gocron.Scheduler

	mu      sync.Mutex
	jobs    map[string]*job // Tasks with a schedule, by name in lower case.
	running map[string]bool // A task that was removed may be in it still.
}

// job is a task in the scheduler.
type job struct {
	task Task
	in   gocron.Job // nil: it could not be scheduled.
	over bool       // Its only time has passed.
}

// look takes over what changed.
func (s *server) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Look == nil || s.ctx.Err() != nil {
		return
	}
	list, changed := s.Look()
	if !changed {
		return
	}
	if c := s.apply(list); len(c.Added)+len(c.Changed)+len(c.Removed) > 0 && s.Changed != nil {
		s.Changed(c)
	}
}

// apply makes the scheduler follow the list.
func (s *server) apply(list []Task) (c Change) {
	gone := maps.Clone(s.jobs)
	for _, t := range list {
		if t.Schedule.IsZero() {
			continue
		}
		key := strings.ToLower(t.Name)
		old := s.jobs[key]
		delete(gone, key)
		switch {
		case old == nil:
			c.Added = append(c.Added, t)
		case !same(old.task, t):
			c.Changed = append(c.Changed, t)
		}
		if old != nil && old.task.Schedule.String() == t.Schedule.String() {
			old.task = t
			continue
		}
		s.remove(old)
		s.jobs[key] = s.schedule(key, t)
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		s.remove(gone[key])
		delete(s.jobs, key)
		c.Removed = append(c.Removed, gone[key].task)
	}
	return c
}

// same reports whether a task is what it was, wherever it stands. Features count as
// changed where their lines moved: they know them.
func same(a, b Task) bool {
	a.Source, a.Schedule = b.Source, b.Schedule // What Schedule is made of is compared.
	return reflect.DeepEqual(a, b)
}

// schedule puts a task into the scheduler.
func (s *server) schedule(key string, t Task) *job {
	j := &job{task: t}
	var err error
	j.in, err = s.scheduler.NewJob(t.Schedule.Job(), gocron.NewTask(func() { s.fire(key, j) }), gocron.WithName(t.Name))
	if errors.Is(err, gocron.ErrOneTimeJobStartDateTimePast) {
		err = schedule.ErrPast
	}
	if err != nil {
		j.in, j.over = nil, true
		s.skip(t, err)
	}
	return j
}

// remove takes a task out of the scheduler. A run of it goes on.
func (s *server) remove(j *job) {
	if j != nil && j.in != nil {
		_ = s.scheduler.RemoveJob(j.in.ID()) // One that ran once may be gone already.
	}
}

func (s *server) skip(t Task, err error) {
	if s.Skip != nil {
		s.Skip(t, err)
	}
}

// fire runs a task whose time has come, as its file is now.
func (s *server) fire(key string, j *job) {
	s.look()
	if t, ok := s.begin(key, j); ok {
		s.Run(s.ctx, t)
		s.mu.Lock()
		delete(s.running, key)
		s.mu.Unlock()
		s.look()
	}
	s.mu.Lock()
	j.over = j.task.Schedule.Once()
	s.mu.Unlock()
	s.endIfOver()
}

// begin reports whether a task is still to run now, and marks it as running.
func (s *server) begin(key string, j *job) (Task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.jobs[key] != j || s.ctx.Err() != nil: // Removed, or planned anew.
		return Task{}, false
	case s.running[key]:
		if j.task.Schedule.Once() {
			s.skip(j.task, errors.New("its run before goes on still"))
		}
		return Task{}, false
	}
	s.running[key] = true
	return j.task, true
}

// endIfOver ends serving where no task runs and none has a time to come. Where all
// were removed, others may be written.
func (s *server) endIfOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.jobs) == 0 || len(s.running) > 0 {
		return
	}
	for _, j := range s.jobs {
		if !j.over {
			return
		}
	}
	s.done()
}
