package pyext

import (
	"encoding/binary"
	"os"
	"sync"
)

// death is how a process ended.
type death struct {
	culprit   int // 0: nobody knows.
	why       string
	hung      bool
	blameless bool // It was ended on purpose.
}

// life is whether a process is of use, and what it died of.
type life struct {
	gone chan struct{} // Closed when it has ended.

	mu    sync.Mutex
	ready bool // The extensions are loaded.
	dead  bool
	death death
}

// blame gives a cause for a death that is to come. The first one counts.
func (l *life) blame(d death) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.death.why == "" && !l.dead {
		l.death = d
	}
}

// begin takes a frame of the start. False: the start is over, nobody listens.
func (l *life) begin(ready bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.ready
	l.ready = l.ready || ready
	return !over
}

// end says that the process has ended; d is the cause if no other is known. It
// reports whether the process had been ready.
func (l *life) end(d death) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.death.why == "" {
		l.death = d
	}
	l.dead = true
	return l.ready
}

// cause is why the process ended.
func (l *life) cause() death {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.death
}

// marker is where Python leaves a note about which extension is running, for the
// case that the process does not survive it.
type marker struct{ file *os.File }

// markerSize is that of two numbers: who is running, and who ran last.
const markerSize = 8

// read returns what the marker says.
func (m marker) read() (now, last int) {
	var b [markerSize]byte
	if _, err := m.file.ReadAt(b[:], 0); err != nil {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint32(b[:4])), int(binary.LittleEndian.Uint32(b[4:]))
}

func (m marker) close() {
	if m.file != nil {
		_ = m.file.Close()
	}
}
