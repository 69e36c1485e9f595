package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxMessage bounds one message, in bytes.
const MaxMessage = 128 << 20

// The kinds of messages. Each begins with its kind and, but for hello, the number of
// its call.
const (
	kindHello  = 'h' // The plugin is loaded; what it exports.
	kindCall   = 'c'
	kindCancel = 'x'
	kindReply  = 'r'
)

// The ways in which a call ends: with results, an error, or a panic.
const (
	endedWell = iota
	endedBadly
	endedInPanic
)

// tooLarge is the error of a message that must not be sent.
func tooLarge(n int) error {
	return fmt.Errorf("%d MB are too much to hand over (at most %d MB)", n>>20, MaxMessage>>20)
}

// newFrame begins a message; the place for its length is left free.
func newFrame(room []byte, kind byte) []byte { return append(room[:0], 0, 0, 0, 0, kind) }

// sendFrame writes a message in one piece.
func sendFrame(w io.Writer, frame []byte) error {
	n := len(frame) - 4
	if n > MaxMessage {
		return tooLarge(n)
	}
	binary.LittleEndian.PutUint32(frame, uint32(n))
	_, err := w.Write(frame)
	return err
}

// frameReader reads messages.
type frameReader struct {
	in   io.Reader
	room []byte
	head [4]byte
}

// next returns the kind of the next message and what it contains, which is valid
// until the next call.
func (r *frameReader) next() (byte, *decoder, error) {
	if _, err := io.ReadFull(r.in, r.head[:]); err != nil {
		return 0, nil, err
	}
	n := int(binary.LittleEndian.Uint32(r.head[:]))
	if n < 1 || n > MaxMessage {
		return 0, nil, errors.New("not a message")
	}
	const usual = 256 << 10
	if cap(r.room) > usual && n <= usual {
		r.room = nil // Do not keep what one large message needed.
	}
	// In steps: a length is only a claim until as much has arrived.
	r.room = r.room[:0]
	for len(r.room) < n {
		step := min(n-len(r.room), max(len(r.room), usual))
		if cap(r.room)-len(r.room) < step {
			r.room = append(make([]byte, 0, max(len(r.room)+step, 8<<10)), r.room...)
		}
		at := len(r.room)
		r.room = r.room[:at+step]
		if _, err := io.ReadFull(r.in, r.room[at:]); err != nil {
			return 0, nil, err
		}
	}
	return r.room[0], &decoder{r.room[1:]}, nil
}

// take returns what is left of the latest message for good.
func (r *frameReader) take(d *decoder) []byte {
	if len(d.rest) < 64<<10 {
		return append([]byte(nil), d.rest...)
	}
	r.room = nil
	return d.rest
}
