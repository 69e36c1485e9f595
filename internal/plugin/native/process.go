package native

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/plugin/native/pipe"
	"github.com/idelchi/aura/internal/procgroup"
)

// StartOptions say how to run a plugin.
type StartOptions struct {
	Name   string                   // What the program is called.
	Dir    string                   // Working directory; empty: that of this process.
	Env    []string                 // The whole environment.
	Task   func() map[string]string // Variables of the running task, for each call; nil means none.
	Output io.Writer                // What the plugin prints.
}

// Process is a plugin that runs. Its calls may overlap.
type Process struct {
	cmd    *exec.Cmd
	client *pipe.Client
	files  []*os.File // Our ends of the pipes.
	output output
	exited chan struct{}
	state  error // How it ended; valid once exited is closed.
	once   sync.Once
}

// ErrSlow means that a plugin was not loaded in time.
var ErrSlow = errors.New("not loaded in time")

// Start starts a plugin and waits until it is loaded.
func Start(ctx context.Context, exe string, o StartOptions) (_ *Process, err error) {
	p := &Process{exited: make(chan struct{}), output: output{to: o.Output}}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
		if err != nil {
			p.release()
		}
	}()
	var pipes [3]struct{ r, w *os.File }
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		pipes[i].r, pipes[i].w = r, w
		if i == 0 {
			r, w = w, r
		}
		p.files, theirs = append(p.files, r), append(theirs, w)
	}
	calls, replies, printed := pipes[0], pipes[1], pipes[2]
	p.cmd = exec.Command(exe)
	p.cmd.Args = []string{o.Name}
	p.cmd.Dir, p.cmd.Env = o.Dir, append([]string{}, o.Env...)
	p.cmd.Stdout, p.cmd.Stderr = printed.w, printed.w
	ownGroup(p.cmd)
	for _, number := range leave(p.cmd, calls.r, replies.w) {
		p.cmd.Args = append(p.cmd.Args, strconv.FormatUint(number, 10))
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("its executable cannot be started: %w", err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		p.output.copy(printed.r)
	}()
	go p.watch(copied)
	return p, p.connect(ctx, replies.r, calls.w, o)
}

// connect waits for the plugin's first words.
func (p *Process) connect(ctx context.Context, in io.Reader, out io.Writer, o StartOptions) error {
	type connected struct {
		client *pipe.Client
		err    error
	}
	done := make(chan connected, 1)
	go func() {
		c, err := pipe.Connect(in, out)
		done <- connected{c, err}
	}()
	select {
	case c := <-done:
		if c.err == nil {
			p.client = c.client
			p.client.Task = o.Task
			return nil
		}
	case <-ctx.Done():
		p.Kill()
		<-done
		return ErrSlow
	}
	p.Kill() // It has ended, or cannot be talked to.
	return p.Err()
}

// watch waits for the end of the process.
func (p *Process) watch(copied <-chan struct{}) {
	p.state = p.cmd.Wait()
	// Its last words are in the pipe. Something that it has left behind may keep the pipe
	// open for ever.
	select {
	case <-copied:
	case <-time.After(200 * time.Millisecond):
	}
	_ = procgroup.Kill(p.cmd.Process)
	p.release()
	<-copied
	close(p.exited)
}

// release closes our ends of the pipes.
func (p *Process) release() {
	for _, f := range p.files {
		_ = f.Close()
	}
}

// Panic is the error of a call whose function panicked in the plugin's process.
type Panic = pipe.Panic

// Lookup returns an exported function of the plugin; see pipe.Client.
func (p *Process) Lookup(name string, t reflect.Type, through pipe.Caller) (fn any, signature string) {
	return p.client.Lookup(name, t, through)
}

// Call implements pipe.Caller. If the process ends meanwhile, the error says how.
func (p *Process) Call(ctx context.Context, function string, args, results []reflect.Value) error {
	err := p.client.Call(ctx, function, args, results)
	if _, lost := errors.AsType[*pipe.Lost](err); lost {
		p.Kill() // If it has not ended, it has closed its end, or talks nonsense.
		return p.Err()
	}
	return err
}

// Wait waits for the end of the process and reports how it came, and whether the
// error of a call tells of it.
func (p *Process) Wait() (heard bool, err error) { return p.client.Heard(), p.Err() }

// Kill ends the process with everything it has started and waits for it.
func (p *Process) Kill() {
	p.once.Do(func() { _ = procgroup.Kill(p.cmd.Process) })
	<-p.exited
}

// ExitError is how a plugin's process ended.
type ExitError struct {
	State error  // Of the process; nil if it ended as if all were well.
	Said  string // The first line of the panic or fatal error that ended it, if there was one.
}

func (e *ExitError) Error() string {
	text := "its process ended"
	if e.State != nil {
		text += " (" + e.State.Error() + ")"
	}
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

// Err waits for the end of the process and says how it came.
func (p *Process) Err() error {
	<-p.exited
	return &ExitError{p.state, p.output.lastWords()}
}

// maxOutput bounds what is passed on of what a plugin prints.
const maxOutput = 8 << 20

// output takes what a plugin prints.
type output struct {
	to io.Writer

	mu   sync.Mutex
	said string
}

// copy passes everything on, as far as it is allowed to, and drops the rest.
func (o *output) copy(r io.Reader) {
	in := bufio.NewReaderSize(r, 64<<10)
	total := 0
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		o.listen(line)
		if total < maxOutput && len(line) > 0 {
			_, _ = o.to.Write(line)
			if total += len(line); total >= maxOutput {
				_, _ = io.WriteString(o.to, "(what the plugin prints from here on is dropped)\n")
			}
		}
		if err != nil {
			return
		}
	}
}

// listen remembers why the process is going to end.
func (o *output) listen(line []byte) {
	if len(line) < 6 || line[0] != 'p' && line[0] != 'f' {
		return
	}
	text := strings.TrimSpace(string(line[:min(len(line), 1000)]))
	if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.said = text
	}
}

func (o *output) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said
}
