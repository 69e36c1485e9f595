package pyext

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/procgroup"
)

// Grace periods.
const (
	exitGrace   = time.Second     // To end by itself when the session does.
	cancelGrace = 2 * time.Second // To stop after the user cancelled.
	awaitGrace  = time.Second     // For a coroutine to end after its deadline.
)

// process is one Python process.
type process struct {
	life
	host    *Host
	cmd     *exec.Cmd
	to      sender
	from    *os.File
	marker  marker
	queue   queue
	chunks  chunks
	output  tail       // What was printed last.
	loading chan frame // While the extensions are loaded.
	replay  sync.Once
}

// startProcess starts Python. It has loaded nothing yet.
func startProcess(h *Host) (*process, error) {
	interpreter, err := h.opts.Interpreter.Resolve(h.opts.Cache)
	if err != nil {
		return nil, err
	}
	dir, err := unpack(h.opts.Cache)
	if err != nil {
		return nil, err
	}
	p := &process{host: h, life: life{gone: make(chan struct{})}, loading: make(chan frame, 16)}
	p.queue.calls, p.queue.late = map[int64]*pending{}, p.overdue
	// -I and -S: nothing but what is on the list can slow down the start or be
	// imported by accident. The directories of packages are added by number.
	p.cmd = exec.Command(interpreter.Path, "-I", "-S", "-c", h.opts.boot, dir)
	p.cmd.Dir, p.cmd.Env = h.opts.Workdir, h.opts.Env
	printed, err := p.connect()
	if err != nil {
		return nil, fmt.Errorf("python: %w", err)
	}
	h.wg.Go(func() { p.collect(printed) })
	h.wg.Go(p.run)
	return p, nil
}

// bootCode finds the embedded package and runs it.
const bootCode = "import sys; sys.path.insert(0, sys.argv[1]); from agent._host import main; main()"

// pipes opens pipes. Its first error stays.
type pipes struct {
	opened []*os.File
	err    error
}

// pair opens one pipe.
func (p *pipes) pair() (r, w *os.File) {
	if p.err == nil {
		if r, w, p.err = os.Pipe(); p.err == nil {
			p.opened = append(p.opened, r, w)
		}
	}
	return r, w
}

// fail closes what was opened.
func (p *pipes) fail(err error) error {
	closeAll(p.opened...)
	return err
}

func closeAll(list ...*os.File) {
	for _, f := range list {
		_ = f.Close()
	}
}

// load lets the process load the extensions.
func (p *process) load(list []Extension) error {
	type spec struct {
		Index   int    `json:"index"`
		Name    string `json:"name"`
		Path    string `json:"path,omitempty"`
		Package bool   `json:"package,omitempty"`
		Entry   string `json:"entry,omitempty"`
	}
	h := p.host
	first := struct {
		Op         string   `json:"op"`
		Debug      bool     `json:"debug"`
		Facts      facts    `json:"facts"`
		Events     []string `json:"events"`
		Paths      []string `json:"paths"`
		Extensions []spec   `json:"extensions"`
	}{Op: "start", Debug: h.opts.Debug, Events: eventNames(), Facts: h.lastFacts(), Paths: h.opts.Interpreter.searchPath()}
	for _, e := range list {
		first.Extensions = append(first.Extensions, spec{e.number, e.Name, e.file(), e.Package, e.EntryPoint})
	}
	data, err := jsontext.Marshal(first)
	if err != nil {
		return err
	}
	p.to.facts = first.Facts
	if _, err := p.to.file.Write(append(data, '\n')); err != nil {
		p.kill(death{why: fmt.Sprintf("python could not be started: %v", err)})
		return err
	}
	current := 0
	timer := time.NewTimer(h.opts.loading)
	defer timer.Stop()
	for {
		select {
		case f, ok := <-p.loading:
			switch {
			case !ok:
				return errors.New(p.cause().why)
			case f.Loading > 0:
				current = f.Loading
				timer.Reset(h.opts.loading)
			case f.Loaded != nil:
				h.takeLoaded(f.Loaded)
			case f.Ready:
				return nil
			}
		case <-timer.C:
			p.kill(death{culprit: current, hung: true, why: fmt.Sprintf("loading took more than %s", h.opts.loading)})
		}
	}
}

// run takes frames from Python until it ends, and sees to its end.
func (p *process) run() {
	exited := make(chan error, 1)
	p.host.wg.Go(func() {
		state := p.cmd.Wait()
		_ = procgroup.Kill(p.cmd.Process) // What it started does not outlive it.
		_ = p.from.SetReadDeadline(time.Now().Add(exitGrace))
		exited <- state
	})
	err := readFrames(p.from, p.take)
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		_, last := p.marked()
		p.kill(death{culprit: last, why: "it wrote to the wire: " + err.Error()})
	}
	// No more answers can come: whatever it still does is of no use.
	timer := time.AfterFunc(exitGrace, func() { _ = procgroup.Kill(p.cmd.Process) })
	state := <-exited
	timer.Stop()
	closeAll(p.to.file, p.from)
	ready := p.end(p.autopsy(state))
	p.queue.close()
	p.marker.close()
	close(p.gone)
	if ready {
		// Before anybody hears of it: whoever comes next must find the new process.
		p.host.died(p)
	}
	p.queue.release()
	close(p.loading)
}

// autopsy is the cause of a death that nobody wanted.
func (p *process) autopsy(state error) death {
	how := "exited"
	if state != nil {
		how = state.Error()
	}
	if culprit, _ := p.marked(); culprit != 0 {
		return death{culprit: culprit, why: "it ended the Python process (" + how + ")"}
	}
	return death{why: how + p.output.lastLine()}
}

// take handles one frame.
func (p *process) take(f frame) {
	switch {
	case f.Log != nil:
		p.host.said(f)
	case f.Loading > 0, f.Loaded != nil, f.Ready:
		if p.begin(f.Ready) {
			p.loading <- f
		}
	case f.Prompts != nil:
		p.host.prompted(f)
	case f.ID > 0:
		switch c := p.queue.deliver(&f); {
		case c == nil:
		case f.Ask != "":
			p.refuse(&f)
		default:
			c.done()
		}
	}
}

// overdue is called when the time of a call may be up.
func (p *process) overdue(c *pending) {
	verdict, timeout := p.queue.judge(c)
	switch verdict {
	case nudge:
		p.cancel(c.id, true)
	case deaf:
		p.kill(death{why: "a call did not stop after it was cancelled", blameless: true})
	case hung:
		culprit, _ := p.marked()
		if culprit == 0 {
			culprit = c.owner
		}
		p.kill(death{culprit: culprit, hung: true, why: fmt.Sprintf("timed out after %s", timeout)})
	}
}

// marked is the extension that is running according to Python, and the one that ran
// last; 0 if there is none.
func (p *process) marked() (now, last int) {
	if p.marker.file == nil {
		now = p.queue.head()
		return now, now
	}
	return p.marker.read()
}

// cancel asks for a call to end: soon, or now.
func (p *process) cancel(id int64, now bool) {
	// The pipe may be full: nobody may wait for that here.
	p.host.wg.Go(func() { p.to.line(fmt.Sprintf(`{"op":"cancel","id":%d,"now":%t}`, id, now)) })
}

// kill ends the process because of d. The first cause counts.
func (p *process) kill(d death) {
	p.blame(d)
	_ = procgroup.Kill(p.cmd.Process)
}

// wait returns when the process and its goroutines are gone.
func (p *process) wait() { <-p.gone }

// shutdown ends the process: it is told that there is nothing more to do, and
// killed if it does not go.
func (p *process) shutdown() {
	p.blame(death{why: "the session has ended", blameless: true})
	_ = p.to.file.Close()
	timer := time.AfterFunc(exitGrace, func() { _ = procgroup.Kill(p.cmd.Process) })
	defer timer.Stop()
	p.wait()
}
