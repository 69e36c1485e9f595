package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
	"github.com/idelchi/aura/internal/tool"
)

// WorkerOptions say how the confined child is started.
type WorkerOptions struct {
	// Command is the program with its arguments; it must call Serve.
	Command []string
	Rules   Rules
	Env     []string
	Dir     string       // Empty: that of this process, which relative flags are relative to.
	Logger  *slog.Logger // Gets what the child writes to its standard error.
}

// Worker runs tools in one confined child process, which is started with the first
// call and kept for the next ones: the rules hold for the process, not for a call.
// It may be used by several goroutines.
type Worker struct {
	opts WorkerOptions

	mu    sync.Mutex
	child *child
	next  int
}

// child is a running process.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // Closed when it is gone.

	write sync.Mutex
	mu    sync.Mutex
	calls map[int]*pending
}

// pending is a call that waits for its answer.
type pending struct {
	output func(string)
	answer chan reply
}

// request is one line to the child.
type request struct {
	ID      int            `json:"id"`
	Cancel  bool           `json:"cancel,omitempty"`
	Tool    string         `json:"tool,omitempty"`
	CallID  string         `json:"call_id,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
	Workdir string         `json:"workdir,omitempty"`
	Context *tool.Context  `json:"context,omitempty"`
}

// reply is one line from the child: live output, or the answer.
type reply struct {
	ID     int          `json:"id"`
	Output string       `json:"output,omitempty"`
	Final  bool         `json:"final,omitempty"`
	Text   string       `json:"text,omitempty"`
	Images []tool.Image `json:"images,omitempty"`
	Done   bool         `json:"done,omitempty"`
	Error  string       `json:"error,omitempty"`
	Setup  string       `json:"setup,omitempty"` // The child could not confine itself.
}

// NewWorker returns a worker that has not started its child yet.
func NewWorker(o WorkerOptions) *Worker {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Worker{opts: o}
}

// SetupError says that the sandbox itself does not work: a matter for the user,
// not for the model.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return "sandbox: " + e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// grace is how long a cancelled call may take to stop before its process is killed.
const grace = 3 * time.Second

// Run executes a tool in the child.
func (w *Worker) Run(ctx context.Context, name string, call tool.Call) (tool.Result, error) {
	c, id, err := w.start()
	if err != nil {
		return tool.Result{}, &SetupError{err}
	}
	p := &pending{output: call.Output, answer: make(chan reply, 1)}
	c.mu.Lock()
	c.calls[id] = p
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	if err := c.send(
		request{ID: id, Tool: name, CallID: call.ID, Args: call.Args, Workdir: call.Workdir, Context: &call.Context},
	); err != nil {
		return tool.Result{}, &SetupError{err}
	}
	select {
	case r := <-p.answer:
		return r.result()
	case <-c.done:
		return tool.Result{}, errors.New("the sandboxed process ended before it answered")
	case <-ctx.Done():
	}
	// Ask it to stop; the process is killed if it does not.
	_ = c.send(request{ID: id, Cancel: true})
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-p.answer:
		return r.result()
	case <-c.done:
	case <-timer.C:
		w.drop(c)
	}
	return tool.Result{}, ctx.Err()
}

func (r reply) result() (tool.Result, error) {
	out := tool.Result{Text: r.Text, Images: r.Images, Done: r.Done}
	switch {
	case r.Setup != "":
		return out, &SetupError{errors.New(r.Setup)}
	case r.Error != "":
		return out, errors.New(r.Error)
	}
	return out, nil
}

// start returns the running child, started if there is none, and a new call ID.
func (w *Worker) start() (*child, int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	if w.child != nil {
		select {
		case <-w.child.done: // It died; a new one takes over.
		default:
			return w.child, w.next, nil
		}
	}
	rules, err := json.Marshal(w.opts.Rules)
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(w.opts.Command[0], w.opts.Command[1:]...)
	cmd.Args[0] = os.Args[0] // A program of several names stays the one it is.
	cmd.Env = append(w.opts.Env, rulesVariable+"="+string(rules))
	cmd.Dir = w.opts.Dir
	cmd.Stderr = &logWriter{w.opts.Logger}
	procgroup.Lead(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := aside(cmd.Start); err != nil {
		return nil, 0, err
	}
	c := &child{cmd: cmd, in: in, done: make(chan struct{}), calls: map[int]*pending{}}
	go c.read(out)
	w.child = c
	return c, w.next, nil
}

// drop kills a child and everything it started.
func (w *Worker) drop(c *child) {
	_ = procgroup.Kill(c.cmd.Process)
	<-c.done
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.child == c {
		w.child = nil
	}
}

// Close ends the child.
func (w *Worker) Close() {
	w.mu.Lock()
	c := w.child
	w.child = nil
	w.mu.Unlock()
	if c == nil {
		return
	}
	_ = c.in.Close() // It ends by itself at the end of its input.
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		_ = procgroup.Kill(c.cmd.Process)
		<-c.done
	}
}

func (c *child) send(r request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// read hands the lines of the child to the calls they belong to.
func (c *child) read(out io.Reader) {
	defer close(c.done)
	dec := json.NewDecoder(bufio.NewReaderSize(out, 64<<10))
	for {
		var r reply
		if err := dec.Decode(&r); err != nil {
			break
		}
		c.mu.Lock()
		p := c.calls[r.ID]
		c.mu.Unlock()
		switch {
		case p == nil:
		case r.Final:
			p.answer <- r
		case p.output != nil:
			p.output(r.Output)
		}
	}
	_ = procgroup.Kill(c.cmd.Process)
	_ = c.cmd.Wait()
}

// logWriter puts the standard error of the child into the log.
type logWriter struct{ log *slog.Logger }

func (w *logWriter) Write(p []byte) (int, error) {
	w.log.Debug("sandboxed process", "stderr", string(p))
	return len(p), nil
}

// rulesVariable carries the rules to the child.
const rulesVariable = "AURA_SANDBOX_RULES"

// Requested returns the rules that the parent of this process wants it to hold.
func Requested() (Rules, bool) {
	var r Rules
	text, ok := os.LookupEnv(rulesVariable)
	return r, ok && json.Unmarshal([]byte(text), &r) == nil
}

// Serve is the child's side: it confines the process and runs the tools it is
// asked for until its input ends. What the tools print must not go to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, r Rules, find func(name string) (tool.Tool, bool)) error {
	setup := Confine(r)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{out: json.NewEncoder(out), running: map[int]context.CancelFunc{}}
	var wg sync.WaitGroup
	defer wg.Wait()
	dec := json.NewDecoder(in)
	for {
		var q request
		if err := dec.Decode(&q); errors.Is(err, io.EOF) {
			cancel()
			return nil
		} else if err != nil {
			return fmt.Errorf("sandboxed process: %w", err)
		}
		switch t, ok := find(q.Tool); {
		case q.Cancel:
			s.cancel(q.ID)
		case setup != nil:
			s.send(reply{ID: q.ID, Final: true, Setup: setup.Error()})
		case !ok:
			s.send(reply{ID: q.ID, Final: true, Error: fmt.Sprintf("no tool %q in the sandboxed process", q.Tool)})
		default:
			run := s.begin(ctx, q.ID)
			wg.Go(func() { s.run(run, t, q) })
		}
	}
}

// server is the state of Serve.
type server struct {
	mu      sync.Mutex
	out     *json.Encoder
	running map[int]context.CancelFunc
}

func (s *server) send(r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(r) // A parent that is gone ends the input too.
}

func (s *server) begin(ctx context.Context, id int) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[id] = cancel
	return ctx
}

func (s *server) cancel(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.running[id]; ok {
		cancel()
		delete(s.running, id)
	}
}

func (s *server) run(ctx context.Context, t tool.Tool, q request) {
	defer s.cancel(q.ID)
	call := tool.Call{
		ID:      q.CallID,
		Args:    q.Args,
		Workdir: q.Workdir,
		Output:  func(chunk string) { s.send(reply{ID: q.ID, Output: chunk}) },
	}
	if q.Context != nil {
		call.Context = *q.Context
	}
	result, err := t.Run(ctx, call)
	r := reply{ID: q.ID, Final: true, Text: result.Text, Images: result.Images, Done: result.Done}
	if err != nil {
		r.Error = err.Error()
	}
	s.send(r)
}
