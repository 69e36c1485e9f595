// Package sh runs shell scripts in process: the one interpreter behind the
// Bash tool, shell hooks and `bash:` conditions, with deadlines, process groups
// and bounded output. It is not a sandbox: what a script starts runs with the
// rights of the program.
package sh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

const (
	// DefaultLimit is how many bytes of each stream are kept.
	DefaultLimit = 1 << 20
	// DefaultGrace is the time between SIGTERM and SIGKILL at the deadline.
	DefaultGrace = 2 * time.Second

	// drain is how long a finished command may keep its output open, usually
	// through a grandchild, before its output counts as complete.
	drain = 200 * time.Millisecond
	// leftoverGrace is the time between SIGTERM and SIGKILL for background
	// jobs that are still alive when the script ends.
	leftoverGrace = 200 * time.Millisecond
	// abandon is how long the interpreter may take to notice that everything
	// it waited for was killed. One that is still stuck, for example in opening
	// a FIFO, is left behind.
	abandon = 500 * time.Millisecond
)

// Exit codes of scripts that did not end by themselves, as timeout(1) and
// shells report them.
const (
	exitTimeout   = 124
	exitCancelled = 130
)

// Command is one run of a script. Zero values are defaults.
type Command struct {
	Script string
	Dir    string   // Working directory; default: that of the process.
	Env    []string // The whole environment as KEY=value; nil means that of the process.

	// Stdin is what the script reads; nil means nothing, as from the null
	// device. A script need not read it, whatever its size. A Reader that is
	// neither a file nor in memory (has no Len method) may be read from for a
	// moment after the end, and costs a goroutine if it blocks forever.
	Stdin io.Reader

	// Output receives live output. Calls never overlap; chunk is valid only
	// during the call, and the script waits for it to return.
	Output func(stream Stream, chunk []byte)

	Limit int           // Bytes kept of each stream; default DefaultLimit, negative keeps nothing.
	Grace time.Duration // Between SIGTERM and SIGKILL when ctx ends; default DefaultGrace.
}

// Result is how a script ended.
type Result struct {
	Stdout   []byte
	Stderr   []byte
	Combined []byte // Both streams in the order in which they arrived.

	DroppedStdout int64 // Bytes beyond the limit.
	DroppedStderr int64

	ExitCode  int    // 124 after the deadline, 130 after cancellation.
	Signal    string // What killed the last command, for example "killed"; ExitCode is then 128+n.
	NotFound  bool   // The last command does not exist; ExitCode is 127.
	TimedOut  bool   // The deadline of ctx passed before the script ended.
	Cancelled bool   // ctx was cancelled before the script ended.
}

// Parse reports whether script is a shell script that Run can run.
func Parse(script string) error {
	file, err := parse(script)
	if err != nil {
		return err
	}
	return checkKnown(script, file)
}

func parse(script string) (file *syntax.File, err error) {
	defer recovered(&err)
	if err := checkComplexity(script); err != nil {
		return nil, err
	}
	file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return file, nil
}

// Run runs the script until it ends or ctx does. The error is for scripts that
// could not be parsed or started at all; a script that fails is a Result.
//
// Every external command leads a session, and so a process group, of its own
// and has no controlling terminal. When ctx ends, the groups get SIGTERM and,
// after Grace, SIGKILL. When the script ends, what it left running in these
// groups is killed likewise, `cmd &` included: use `wait` to let a job finish,
// and `setsid` to let a process outlive its script. Nothing that keeps the
// output open delays the return by more than a moment.
func Run(ctx context.Context, c Command) (Result, error) {
	file, err := parse(c.Script)
	if err != nil {
		return Result{}, err
	}
	if err := checkKnown(c.Script, file); err != nil {
		return Result{}, err
	}
	markJobs(c.Script, file)
	if err := ctx.Err(); err != nil {
		return ended(err), nil
	}
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}

	stdin, closeStdin, err := openStdin(c.Stdin)
	if err != nil {
		return Result{}, fmt.Errorf("script: standard input: %w", err)
	}
	defer closeStdin()

	out := newSink(max(c.Limit, 0), c.Output)
	jobs := &jobs{}
	runner, err := interp.New(
		interp.Env(newEnviron(c.Env)),
		interp.Dir(c.Dir),
		interp.StdIO(stdin, out.writer(Stdout), out.writer(Stderr)),
		interp.CallHandler((&guard{jobs: jobs}).call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return jobs.exec }),
	)
	if err != nil {
		return Result{}, fmt.Errorf("script: directory %q: %w", c.Dir, err)
	}

	err = interpret(ctx, runner, file, jobs, c.Grace)
	jobs.close()
	res := out.seal()
	return res, res.finish(ctx, err)
}

// interpret runs the file in a goroutine of its own, because the interpreter
// cannot be interrupted everywhere.
func interpret(ctx context.Context, runner *interp.Runner, file *syntax.File, jobs *jobs, grace time.Duration) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel() // Ends background subshells of a finished script.
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer recovered(&err)
		err = runner.Run(inner, file)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}

	jobs.stop(terminate)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	jobs.stop(kill)
	timer.Reset(drain + abandon)
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return ctx.Err()
	}
}

// finish fills in how the script ended. It returns the error of one that broke
// the interpreter.
func (r *Result) finish(ctx context.Context, err error) error {
	status, exited := errors.AsType[interp.ExitStatus](err)
	cause := ctx.Err()
	switch {
	case cause != nil && (err == nil || exited || errors.Is(err, cause)):
		// Whatever the last command made of its end: it did not come by itself.
		end := ended(cause)
		r.ExitCode, r.TimedOut, r.Cancelled = end.ExitCode, end.TimedOut, end.Cancelled
	case err == nil:
	case exited:
		r.ExitCode = int(status)
		if failed, ok := errors.AsType[*commandError](err); ok {
			r.Signal, r.NotFound = failed.signal, failed.notFound
		}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		// Pipes that multiply meet this limit before that of the interpreter.
		r.ExitCode = 1
		return fmt.Errorf("script: %w: %w", errTooMany, err)
	default:
		r.ExitCode = 1
		return fmt.Errorf("script: %w", err)
	}
	return nil
}

// ended is the result of a script that the end of its context stopped.
func ended(cause error) Result {
	if errors.Is(cause, context.DeadlineExceeded) {
		return Result{ExitCode: exitTimeout, TimedOut: true}
	}
	return Result{ExitCode: exitCancelled, Cancelled: true}
}

// recovered turns a panic of the interpreter into an error. It cannot reach
// the goroutines that the interpreter starts for pipes and background jobs.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the interpreter panicked: %v\n%s", p, debug.Stack())
	}
}

// openStdin turns r into a file that commands can inherit, nil for none.
// The returned function releases it and ends the copying.
func openStdin(r io.Reader) (io.Reader, func(), error) {
	if r == nil {
		return nil, func() {}, nil
	}
	if f, ok := r.(*os.File); ok {
		return f, func() {}, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	// What lies in memory says how much it is, and never blocks.
	sized, inMemory := r.(interface{ Len() int })
	// An empty pipe takes this much without a reader, and without a goroutine.
	const atOnce = 4096
	if inMemory && sized.Len() <= atOnce {
		_, err = io.Copy(pw, r)
		err = errors.Join(err, pw.Close())
		return pr, func() { pr.Close() }, err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer pw.Close()
		// A script that does not read to the end makes this fail: not an error.
		_, _ = io.Copy(pw, r)
	}()
	return pr, func() {
		// Closing the pipe makes a blocked write fail.
		pr.Close()
		pw.Close()
		if inMemory {
			<-copied // The caller may use its reader again.
		}
	}, nil
}
