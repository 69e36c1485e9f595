package pyext

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"sync"
)

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
