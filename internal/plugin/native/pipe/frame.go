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

// frameReader reads messages, as many at a time as have arrived.
type frameReader struct {
	in   io.Reader
	room []byte // room[at:] has arrived and was not handed out yet.
	at   int
}

// next returns the kind of the next message and what it contains, which is valid
// until the next call.
func (r *frameReader) next() (byte, *decoder, error) {
	if err := r.fill(4); err != nil {
		return 0, nil, err
	}
	n := int(binary.LittleEndian.Uint32(r.room[r.at:]))
	if n < 1 || n > MaxMessage {
		return 0, nil, errors.New("not a message")
	}
	if err := r.fill(4 + n); err != nil {
		return 0, nil, err
	}
	message := r.room[r.at+4 : r.at+4+n]
	r.at += 4 + n
	return message[0], newDecoder(message[1:]), nil
}

// fill waits until n bytes have arrived. A length is only a claim until then: room
// is made for what has arrived.
func (r *frameReader) fill(n int) error {
	const usual = 64 << 10
	if have := len(r.room) - r.at; r.at > 0 && (have == 0 || have < n) {
		if cap(r.room) > 4*usual && n <= usual {
			r.room = append(make([]byte, 0, usual), r.room[r.at:]...) // Do not keep what one large message needed.
		} else {
			r.room = r.room[:copy(r.room, r.room[r.at:])]
		}
		r.at = 0
	}
	for len(r.room)-r.at < n {
		if len(r.room) == cap(r.room) {
			r.room = append(make([]byte, 0, max(min(2*cap(r.room), r.at+n), usual)), r.room...)
		}
		m, err := r.in.Read(r.room[len(r.room):cap(r.room)])
		r.room = r.room[:len(r.room)+m]
		if err != nil && len(r.room)-r.at < n {
			return err
		}
	}
	return nil
}

// successor reads on where r is, while what r has handed out is still in use.
func (r *frameReader) successor() *frameReader {
	return &frameReader{in: r.in, room: append(make([]byte, 0, 64<<10), r.room[r.at:]...)}
}

// take returns what is left of the latest message for good.
func (r *frameReader) take(d *decoder) []byte {
	if len(d.rest) < 64<<10 {
		return append([]byte(nil), d.rest...)
	}
	rest := d.rest[:len(d.rest):len(d.rest)]
	r.room, r.at = append([]byte(nil), r.room[r.at:]...), 0
	return rest
}
