package sh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"

	"github.com/idelchi/aura/internal/procgroup"
)

// jobs is the external commands of one run.
type jobs struct {
	mu      sync.Mutex
	closed  bool                   // Nothing may start any more.
	end     func(*os.Process)      // What was done to all groups last; newcomers get it too.
	running map[*os.Process]string // Leaders of groups that have not been waited for, with the mark of their job.
	left    []*os.Process          // Leaders that their group outlived.

	marks int               // Background jobs so far.
	names map[string]string // Marks by the names that $! gave.
}

// commandError is the exit status of an external command with its reason.
type commandError struct {
	status   interp.ExitStatus
	signal   string
	notFound bool
}

func (e *commandError) Error() string { return e.status.Error() }
func (e *commandError) Unwrap() error { return e.status }

// exec runs one external command. It is the interpreter's exec handler.
func (j *jobs) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	path, err := interp.LookPathDir(hc.Dir, hc.Env, args[0])
	if err != nil {
		return notFound(hc, args[0], err)
	}
	newCmd := func(path string, args []string) *exec.Cmd {
		cmd := exec.Command(path)
		cmd.Args = args
		cmd.Env = exported(hc.Env)
		cmd.Dir = hc.Dir
		cmd.Stdin, cmd.Stdout, cmd.Stderr = hc.Stdin, hc.Stdout, hc.Stderr
		cmd.WaitDelay = drain
		procgroup.Lead(cmd)
		return cmd
	}
	mark := hc.Env.Get(jobMark).String()
	cmd := newCmd(path, args)
	err = j.start(cmd, mark)
	// Another process may hold a program that was just written open for a
	// moment longer, because it was forked at that moment.
	for delay := time.Millisecond; isBusy(err) && delay < 300*time.Millisecond && ctx.Err() == nil; delay *= 2 {
		time.Sleep(delay)
		cmd = newCmd(path, args)
		err = j.start(cmd, mark)
	}
	if isNotExecutable(err) {
		// A script without a "#!" line is run by the system's shell.
		if shell, lookErr := interp.LookPathDir(hc.Dir, hc.Env, "sh"); lookErr == nil {
			cmd = newCmd(shell, append([]string{"sh", path}, args[1:]...))
			err = j.start(cmd, mark)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(hc.Stderr, "%s: %v\n", args[0], reason(err))
		return &commandError{status: 126}
	}
	err = cmd.Wait()
	j.finished(cmd.Process)
	return status(ctx, err)
}

// status translates the end of a command for the interpreter.
func status(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok { // Its output could not be copied.
		return &commandError{status: 1}
	}
	if number, name := killedBy(exit); number != 0 {
		return &commandError{status: interp.ExitStatus(128 + number), signal: name}
	}
	return interp.ExitStatus(exit.ExitCode())
}

// notFound reports a command that cannot be run, as a shell does.
func notFound(hc interp.HandlerContext, name string, err error) error {
	if strings.ContainsAny(name, `/\`) {
		if !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(hc.Stderr, "%s: %v\n", name, reason(err))
			return &commandError{status: 126}
		}
		fmt.Fprintf(hc.Stderr, "%s: no such file or directory\n", name)
	} else {
		fmt.Fprintf(hc.Stderr, "%s: command not found\n", name)
	}
	return &commandError{status: 127, notFound: true}
}

// reason is the core of an error, without the names around it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// start starts a command unless the run is over. The lock makes sure that a
// group is known before anybody looks for groups to kill.
func (j *jobs) start(cmd *exec.Cmd, mark string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return context.Canceled
	}
	if len(j.running) >= maxRunning {
		return errTooMany
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if j.running == nil {
		j.running = make(map[*os.Process]string)
	}
	j.running[cmd.Process] = mark
	if j.end != nil {
		j.end(cmd.Process)
	}
	return nil
}

// finished notes that the leader of a group was waited for.
func (j *jobs) finished(leader *os.Process) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, leader)
	if procgroup.Alive(leader) {
		j.left = append(j.left, leader)
	}
}

// stop ends every group of the run, and those that start later: end is terminate or
// kill.
func (j *jobs) stop(end func(*os.Process)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = end
	j.each(end)
}

// close ends the run: nothing starts any more, and what is left is ended.
func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	alive := j.alive()
	if alive {
		j.each(terminate)
	}
	j.mu.Unlock()
	if !alive {
		return
	}
	for end := time.Now().Add(leftoverGrace); time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
		j.mu.Lock()
		alive = j.alive()
		j.mu.Unlock()
		if !alive {
			return
		}
	}
	j.stop(kill)
}

func (j *jobs) alive() bool {
	alive := false
	j.each(func(leader *os.Process) { alive = alive || procgroup.Alive(leader) })
	return alive
}

func (j *jobs) each(f func(leader *os.Process)) {
	for leader := range j.running {
		f(leader)
	}
	for _, leader := range j.left {
		f(leader)
	}
}

// exported is the environment a command inherits.
func exported(env expand.Environ) []string {
	list := make([]string, 0, 64)
	for name, v := range env.Each {
		switch {
		case !v.IsSet():
			// Unset by the script: hide what an outer scope listed before.
			prefix := name + "="
			for i := range list {
				if strings.HasPrefix(list[i], prefix) {
					list[i] = ""
				}
			}
		case v.Exported && v.Kind == expand.String:
			list = append(list, name+"="+v.Str)
		}
	}
	return list
}
