package pyext

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
)

// Grace periods.
const (
	exitGrace   = time.Second     // To end by itself when the session does.
	cancelGrace = 2 * time.Second // To stop after the person cancelled.
	awaitGrace  = time.Second     // For a coroutine to end after its deadline.
)

// process is one Python process.
type process struct {
	host   *Host
	cmd    *exec.Cmd
	in     *os.File // To Python.
	out    *os.File // From Python.
	marker *os.File // Who is running; nil where there is none.
	output tail     // What was printed last.
	gone   chan struct{}

	write  sync.Mutex // Keeps frames whole and in the order of the queue.
	facts  facts      // As sent last; guarded by write.
	buffer []byte     // Of the frame before; guarded by write.

	mu      sync.Mutex
	calls   map[int64]*pending
	queue   []*pending // Calls that Python has not begun or is running, oldest first.
	next    int64
	chunks  chunkQueue
	watch   *time.Timer // Looks at the calls that are due.
	watchAt time.Time   // When; zero while the watch is off.
	death   death
	dead    bool
	ready   bool
	loading chan frame // While the extensions are loaded.
	replay  sync.Once
}

// death is how a process ended.
type death struct {
	culprit   int // 0: nobody knows.
	why       string
	hung      bool
	blameless bool // It was ended on purpose.
}

// pending is a call that has not been answered.
type pending struct {
	id      int64
	owner   int
	timeout time.Duration
	since   time.Time  // When it got to the head of the queue.
	parked  bool       // A coroutine that waits.
	told    bool       // That its time is up.
	due     time.Time  // When it is looked at again.
	events  chan frame // Answers and questions; closed when the process died.
	started bool       // When the process died: it had been begun.
	done    func()     // Called in place of events, for calls that nobody waits for.

	abandoned bool // Cancelled by the person.
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
	p := &process{host: h, calls: map[int64]*pending{}, gone: make(chan struct{}), loading: make(chan frame, 16)}
	// -I and -S: nothing but what is on the list can slow down the start or be
	// imported by accident. The directories of packages are added by number.
	p.cmd = exec.Command(interpreter.Path, "-I", "-S", "-c", bootCode, dir)
	p.cmd.Dir, p.cmd.Env = h.opts.Workdir, h.opts.Env
	printed, err := p.connect()
	if err != nil {
		return nil, fmt.Errorf("python: %w", err)
	}
	h.wg.Go(func() { p.collect(printed) })
	h.wg.Go(p.read)
	return p, nil
}

// bootCode finds the embedded package and runs it.
const bootCode = "import sys; sys.path.insert(0, sys.argv[1]); from agent._host import main; main()"

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
		Paths      []string `json:"paths"`
		Extensions []spec   `json:"extensions"`
	}{Op: "start", Debug: h.opts.Debug, Facts: h.lastFacts(), Paths: h.opts.Interpreter.searchPath()}
	for _, e := range list {
		first.Extensions = append(first.Extensions, spec{e.number, e.Name, e.file(), e.Package, e.EntryPoint})
	}
	data, err := marshal(first)
	if err != nil {
		return err
	}
	p.facts = first.Facts
	if _, err := p.in.Write(append(data, '\n')); err != nil {
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

// takeLoaded keeps what an extension registered, or why it could not be loaded.
func (h *Host) takeLoaded(l *loaded) {
	if l.Index < 1 || l.Index > len(h.found) {
		return
	}
	name := h.found[l.Index-1].Name
	h.mu.Lock()
	_, again := h.regs[l.Index]
	h.regs[l.Index] = l
	if l.Error != "" {
		h.off[l.Index] = "it could not be loaded: " + l.Error
	}
	h.mu.Unlock()
	if l.Error != "" {
		h.opts.Logger.Warn("extension could not be loaded", "extension", name, "error", l.Error, "trace", l.Trace)
		h.opts.Notice(name, "it could not be loaded: "+l.Error)
		return
	}
	if !again {
		h.opts.Logger.Debug("extension loaded", "extension", name, "handlers", len(l.Handlers), "tools", len(l.Tools), "commands", len(l.Commands))
	}
}

// read takes frames from Python until it ends.
func (p *process) read() {
	exited := make(chan error, 1)
	p.host.wg.Go(func() {
		state := p.cmd.Wait()
		_ = procgroup.Kill(p.cmd.Process) // What it started does not outlive it.
		_ = p.out.SetReadDeadline(time.Now().Add(exitGrace))
		exited <- state
	})
	err := p.readFrames()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		_, last := p.marked()
		p.kill(death{culprit: last, why: "it wrote to the wire: " + err.Error()})
	}
	// No more answers can come: whatever it still does is of no use.
	timer := time.AfterFunc(exitGrace, func() { _ = procgroup.Kill(p.cmd.Process) })
	state := <-exited
	timer.Stop()
	_ = p.in.Close()
	_ = p.out.Close()
	ready := p.settle(state)
	if p.marker != nil {
		_ = p.marker.Close()
	}
	close(p.gone)
	if ready {
		// Before anybody hears of it: whoever comes next must find the new process.
		p.host.died(p)
	}
	p.release()
}

func (p *process) readFrames() error {
	r := bufio.NewReaderSize(p.out, 64<<10)
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxFrame {
				return fmt.Errorf("a line of more than %d bytes", maxFrame)
			}
			continue
		}
		if err != nil {
			return err
		}
		if long != nil {
			line, long = append(long, line...), nil
		}
		f, err := parseFrame(line)
		if err != nil {
			return err
		}
		p.take(f)
	}
}

// take handles one frame.
func (p *process) take(f frame) {
	switch {
	case f.Log != nil:
		p.host.said(f)
	case f.Loading > 0, f.Loaded != nil, f.Ready:
		p.mu.Lock()
		over := p.ready
		p.ready = p.ready || f.Ready
		p.mu.Unlock()
		if !over { // Nobody listens to a second start.
			p.loading <- f
		}
	case f.Prompts != nil:
		p.host.prompted(f)
	case f.ID > 0:
		p.answer(f)
	}
}

// answer takes a frame about a call to whoever waits for it.
func (p *process) answer(f frame) {
	p.mu.Lock()
	c := p.calls[f.ID]
	if c == nil {
		p.mu.Unlock()
		return
	}
	if f.Ask == "" {
		p.leaveQueue(c)
		c.parked = true
	}
	if f.Await {
		p.mu.Unlock()
		return
	}
	if f.Ask == "" {
		delete(p.calls, f.ID)
	}
	done := c.done
	p.mu.Unlock()
	if done != nil {
		done()
		return
	}
	select {
	case c.events <- f:
	default: // Nobody asks that many questions at once.
	}
}

// leaveQueue makes room for the call behind c, whose time begins now.
func (p *process) leaveQueue(c *pending) {
	for i, q := range p.queue {
		if q != c {
			continue
		}
		p.queue = append(p.queue[:i], p.queue[i+1:]...)
		if i == 0 && len(p.queue) > 0 {
			head := p.queue[0]
			head.since = time.Now()
			p.remind(head, head.timeout)
		}
		return
	}
}

// remind has a call looked at again after some time. The caller holds mu. One timer
// serves all calls and stays on when they end: most end long before it fires.
func (p *process) remind(c *pending, after time.Duration) {
	c.due = time.Now().Add(after)
	if !p.watchAt.IsZero() && !c.due.Before(p.watchAt) {
		return
	}
	p.watchAt = c.due
	if p.watch == nil {
		p.watch = time.AfterFunc(after, p.look)
		return
	}
	p.watch.Reset(after)
}

// look finds the calls that are due.
func (p *process) look() {
	p.mu.Lock()
	p.watchAt = time.Time{}
	now := time.Now()
	var due []*pending
	for _, c := range p.calls {
		if left := c.due.Sub(now); left > 0 {
			p.remind(c, left)
		} else {
			due = append(due, c)
		}
	}
	p.mu.Unlock()
	for _, c := range due {
		p.overdue(c)
	}
}

// overdue is called when the time of a call may be up.
func (p *process) overdue(c *pending) {
	p.mu.Lock()
	if _, waiting := p.calls[c.id]; !waiting || p.dead {
		p.mu.Unlock()
		return
	}
	if !c.parked && p.queue[0] != c {
		p.remind(c, c.timeout) // It has not begun: somebody else is running.
		p.mu.Unlock()
		return
	}
	if left := c.timeout - time.Since(c.since); !c.parked && left > 0 {
		p.remind(c, left)
		p.mu.Unlock()
		return
	}
	if c.parked && !c.told {
		c.told = true
		p.remind(c, awaitGrace)
		p.mu.Unlock()
		p.cancel(c.id, true)
		return
	}
	abandoned := c.abandoned
	p.mu.Unlock()
	if abandoned {
		p.kill(death{why: "a call did not stop after it was cancelled", blameless: true})
		return
	}
	culprit := p.running()
	if culprit == 0 {
		culprit = c.owner
	}
	p.kill(death{culprit: culprit, hung: true, why: fmt.Sprintf("timed out after %s", c.timeout)})
}

// running is the extension that is running according to Python, 0 if none is.
func (p *process) running() int { now, _ := p.marked(); return now }

// marked is the extension that is running, and the one that ran last.
func (p *process) marked() (now, last int) {
	if p.marker == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.queue) > 0 {
			return p.queue[0].owner, p.queue[0].owner
		}
		return 0, 0
	}
	var b [8]byte
	if _, err := p.marker.ReadAt(b[:], 0); err != nil {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint32(b[:4])), int(binary.LittleEndian.Uint32(b[4:]))
}

// send writes a frame that is not a call.
func (p *process) send(text string) {
	p.write.Lock()
	defer p.write.Unlock()
	_, _ = io.WriteString(p.in, text+"\n")
}

// cancel asks for a call to end: soon, or now.
func (p *process) cancel(id int64, now bool) {
	// The pipe may be full: nobody may wait for that here.
	p.host.wg.Go(func() { p.send(fmt.Sprintf(`{"op":"cancel","id":%d,"now":%t}`, id, now)) })
}

// kill ends the process because of d. The first cause counts.
func (p *process) kill(d death) {
	p.mu.Lock()
	if p.death.why == "" && !p.dead {
		p.death = d
	}
	p.mu.Unlock()
	_ = procgroup.Kill(p.cmd.Process)
}

// settle finds out why the process ended. It reports whether it had been ready.
func (p *process) settle(state error) bool {
	culprit := p.running()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.death.why == "" {
		how := "exited"
		if state != nil {
			how = state.Error()
		}
		p.death = death{culprit: culprit, why: "it ended the Python process (" + how + ")"}
		if culprit == 0 {
			p.death.why = how + p.output.lastLine()
		}
	}
	p.dead = true
	return p.ready
}

// release lets go of everybody who waits for the process.
func (p *process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, c := range p.calls {
		c.started = c.parked || len(p.queue) > 0 && p.queue[0] == c
		delete(p.calls, id)
		if c.done == nil {
			close(c.events)
		}
	}
	p.queue = nil
	if p.watch != nil {
		p.watch.Stop()
	}
	close(p.loading)
}

// cause is why the process ended.
func (p *process) cause() death {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.death
}

// wait returns when the process and its goroutines are gone.
func (p *process) wait() { <-p.gone }

// shutdown ends the process: it is told that there is nothing more to do, and
// killed if it does not go.
func (p *process) shutdown() {
	p.mu.Lock()
	if p.death.why == "" {
		p.death = death{why: "the session has ended", blameless: true}
	}
	p.mu.Unlock()
	_ = p.in.Close()
	timer := time.AfterFunc(exitGrace, func() { _ = procgroup.Kill(p.cmd.Process) })
	defer timer.Stop()
	p.wait()
}

// collect takes what extensions print into the log, up to a limit.
func (p *process) collect(printed *os.File) {
	defer printed.Close()
	go func() {
		<-p.gone
		// A grandchild that escaped must not hold the pipe open for ever.
		_ = printed.Close()
	}()
	const limit = 1 << 20
	r := bufio.NewReaderSize(printed, 4<<10)
	for total := 0; ; {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(line) == 0 {
			return
		}
		p.output.add(line)
		if total < limit {
			p.host.opts.Logger.Info("extensions print", "line", strings.TrimRight(string(line), "\r\n"))
			if total += len(line); total >= limit {
				p.host.opts.Logger.Warn("extensions print too much: the rest is dropped")
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// tail remembers the end of what was printed.
type tail struct {
	mu   sync.Mutex
	last string
}

func (t *tail) add(line []byte) {
	if text := strings.TrimSpace(string(line)); text != "" {
		t.mu.Lock()
		t.last = text
		t.mu.Unlock()
	}
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == "" {
		return ""
	}
	return ": " + t.last
}
