package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// stopTime is how long running tasks get to end once they are cancelled: what their
// finally gets, and a little for what they are in the middle of.
const stopTime = finallyTime + 30*time.Second

// Serve runs tasks on their schedules, each at most once at a time, until ctx ends or
// no time is left; run is called for every run and must not panic. What is running when
// ctx ends is waited for. Tasks without a schedule do not take part; a time that has
// passed is told to skip.
func Serve(ctx context.Context, list []Task, run func(context.Context, Task), skip func(Task, error)) error {
	scheduler, err := gocron.NewScheduler(gocron.WithStopTimeout(stopTime))
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var left atomic.Int64 // Runs of tasks that run once, and tasks that run for ever.
	left.Add(1)           // Until all are there.
	finish := func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	for _, t := range list {
		if t.Schedule.IsZero() {
			continue
		}
		once := t.Schedule.kind == "once"
		left.Add(1)
		_, err := scheduler.NewJob(t.Schedule.job(), gocron.NewTask(func() {
			if once {
				defer finish()
			}
			if ctx.Err() == nil {
				run(ctx, t)
			}
		}), gocron.WithName(t.Name), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if errors.Is(err, gocron.ErrOneTimeJobStartDateTimePast) {
			skip(t, ErrPast)
			finish()
			continue
		}
		if err != nil {
			return errors.Join(fmt.Errorf("task %s: %w", t.Name, err), scheduler.Shutdown())
		}
	}
	scheduler.Start()
	finish()
	<-ctx.Done()
	if err := scheduler.Shutdown(); err != nil {
		return fmt.Errorf("a task did not end: %w", err)
	}
	return nil
}
