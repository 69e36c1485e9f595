package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
)

// How long a server gets to leave by itself: after its input was closed, after it
// was told to, and after it was killed.
const (
	leaveTime = 150 * time.Millisecond
	termTime  = 300 * time.Millisecond
	killTime  = time.Second
)

// What is kept of the standard error of a server.
const (
	maxErrorLine  = 4 << 10
	maxErrorLines = 2000 // In the log, in one life of a server.
)

// process is a server that runs as a child.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // What the server reads.
	out    *os.File // What the server writes.
	lines  messages // The messages of it.
	exited chan struct{}

	mu   sync.Mutex
	last string // Last line on standard error, or on standard output that was no message.
	err  error  // How it ended.
	once sync.Once
}

// startProcess starts a program with the given environment.
func startProcess(name string, args, env []string, dir string, log *slog.Logger) (p *process, err error) {
	path, err := lookPath(name, env, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = env, dir
	procgroup.Lead(cmd)
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w
	}
	childIn, in := pipe()
	out, childOut := pipe()
	errs, childErr := pipe()
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, childErr
		err = cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, fmt.Errorf("%s cannot be started: %w", name, err)
	}
	for _, f := range []*os.File{childIn, childOut, childErr} {
		_ = f.Close()
	}
	p = &process{cmd: cmd, in: in, out: out, exited: make(chan struct{})}
	p.lines = messages{r: bufio.NewReaderSize(out, 64<<10), noise: func(line string) {
		p.mu.Lock()
		p.last = line
		p.mu.Unlock()
		log.Debug("stdout, but not a message", "line", line)
	}}
	drained := make(chan struct{})
	go func() { defer close(drained); p.drain(errs, log) }()
	go p.await(errs, drained)
	return p, nil
}

// lookPath finds a program in the PATH of the server's own environment. A path with
// a directory in it is relative to dir.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) && dir != "" {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	var search string
	for _, kv := range env {
		if key, value, _ := strings.Cut(kv, "="); strings.EqualFold(key, "PATH") {
			search = value
		}
	}
	if search != os.Getenv("PATH") {
		for _, d := range filepath.SplitList(search) {
			if path, err := exec.LookPath(filepath.Join(d, name)); err == nil && filepath.IsAbs(path) {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("command %q: not found in PATH", name)
	}
	return path, nil
}

// drain reads standard error, so that the server never waits for it.
func (p *process) drain(r io.Reader, log *slog.Logger) {
	lines := 0
	reader := bufio.NewReaderSize(r, maxErrorLine)
	for {
		line, more, err := reader.ReadLine()
		if err != nil {
			return
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			p.mu.Lock()
			p.last = text
			p.mu.Unlock()
			switch lines++; {
			case lines < maxErrorLines:
				log.Debug("stderr", "line", text)
			case lines == maxErrorLines:
				log.Debug("stderr is too long, the rest is left out")
			}
		}
		for more && err == nil { // The rest of a long line.
			_, more, err = reader.ReadLine()
		}
	}
}

// await notes how the process ended, and ends what it left behind: a grandchild that
// keeps the pipes open must not make a dead server look alive.
func (p *process) await(errs *os.File, drained <-chan struct{}) {
	err := p.cmd.Wait()
	select {
	case <-drained: // Its last words are known.
	case <-time.After(50 * time.Millisecond):
	}
	_ = procgroup.Kill(p.cmd.Process)
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	close(p.exited)
	select {
	case <-drained:
	case <-time.After(killTime):
	}
	_ = errs.Close()
}

// ended says how the process ended, with its last words; empty while it runs.
func (p *process) ended() string {
	select {
	case <-p.exited:
	default:
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := "it exited"
	if p.err != nil {
		text = "it ended with " + p.err.Error()
	}
	if p.last != "" {
		text += ", saying: " + oneLine(p.last, 300)
	}
	return text
}

// lastWords is the last line that was no message.
func (p *process) lastWords() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return oneLine(p.last, 300)
}

// Read reads the messages of the server.
func (p *process) Read(b []byte) (int, error) { return p.lines.Read(b) }

// Write sends something to the server.
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the server: gently at first, with its whole group in the end.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		if !p.within(leaveTime) {
			_ = procgroup.Terminate(p.cmd.Process)
			if !p.within(termTime) {
				_ = procgroup.Kill(p.cmd.Process)
				p.within(killTime)
			}
		}
		_ = p.out.Close()
	})
	if p.ended() == "" {
		return errors.New("it does not end")
	}
	return nil
}

func (p *process) within(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// messages reads the lines that are JSON. Servers greet, warn and log on standard
// output, too, though they must not: one such line is no reason to give up.
type messages struct {
	r     *bufio.Reader
	noise func(line string) // Told of the other lines, or how they begin.

	rest    []byte // Of a line that is being read.
	partial bool   // The line goes on behind rest,
	skip    bool   // and is none of ours.
	err     error
}

// isMessage reports whether a line begins like a message or a list of them: `[INFO] ready`
// does not.
func isMessage(line []byte) bool {
	if list, ok := bytes.CutPrefix(line, []byte("[")); ok {
		line = bytes.TrimLeft(list, " \t")
	}
	return len(line) > 0 && line[0] == '{'
}

func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		line, err := m.r.ReadSlice('\n')
		begins := !m.partial
		if m.partial = errors.Is(err, bufio.ErrBufferFull); !m.partial {
			m.err = err
		}
		text := bytes.TrimSpace(line)
		if begins {
			m.skip = !isMessage(text)
		}
		switch {
		case !m.skip:
			m.rest = line
		case begins && len(text) > 0:
			m.noise(string(text[:min(len(text), maxErrorLine)]))
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}
