package plain

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyKind says what a key does. Keys of the same meaning are one kind.
type keyKind uint8

const (
	keyNone keyKind = iota
	keyRune
	keyPaste
	keyEnter
	keyNewline
	keyTab
	keyBackspace
	keyDelete
	keyLeft
	keyRight
	keyUp
	keyDown
	keyHome
	keyEnd
	keyWordLeft
	keyWordRight
	keyKillEnd
	keyKillStart
	keyKillWord
	keyKillWordRight
	keyYank
	keySearch
	keyCancel
	keyClear
	keyInterrupt
	keyEOF // Also deletes to the right.
)

// key is one key press, or a piece of pasted text.
type key struct {
	kind keyKind
	r    rune
	text string
}

// decoder turns the bytes of a terminal into keys. Sequences may be split
// between calls. A lone Esc waits for the next key and makes it an Alt key, as in
// readline: no timer decides what was meant.
type decoder struct {
	buf   []byte
	paste bool // Inside a bracketed paste.
	cr    bool // The last pasted character was a carriage return.
}

const (
	pasteEnd = "\x1b[201~"
	// maxKeySequence bounds a sequence; what is longer is not from a keyboard.
	maxKeySequence = 64
)

// feed decodes the next bytes.
func (d *decoder) feed(b []byte) []key {
	d.buf = append(d.buf, b...)
	var keys []key
	used := 0
	for used < len(d.buf) {
		k, n := d.next(d.buf[used:])
		if n == 0 {
			break
		}
		used += n
		if k.kind != keyNone {
			keys = append(keys, k)
		}
	}
	d.buf = append(d.buf[:0], d.buf[used:]...)
	return keys
}

// next decodes one key; n is 0 if b is the beginning of something.
func (d *decoder) next(b []byte) (k key, n int) {
	if d.paste {
		return d.pasted(b)
	}
	switch c := b[0]; {
	case c == 0x1b:
		return d.escaped(b)
	case c < 0x20 || c == 0x7f:
		return key{kind: controlKey(c)}, 1
	case !utf8.FullRune(b):
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 || unicode.IsControl(r) {
		return key{}, n
	}
	return key{kind: keyRune, r: r}, n
}

func controlKey(c byte) keyKind {
	table := [...]keyKind{
		0x01: keyHome, 0x02: keyLeft, 0x03: keyInterrupt, 0x04: keyEOF, 0x05: keyEnd, 0x06: keyRight, 0x07: keyCancel,
		0x08: keyBackspace, '\t': keyTab, '\n': keyNewline, 0x0b: keyKillEnd, 0x0c: keyClear, '\r': keyEnter,
		0x0e: keyDown, 0x10: keyUp, 0x12: keySearch, 0x15: keyKillStart, 0x17: keyKillWord, 0x19: keyYank,
		0x7f: keyBackspace,
	}
	return table[c]
}

// escaped decodes what begins with Esc.
func (d *decoder) escaped(b []byte) (key, int) {
	if len(b) < 2 {
		return key{}, 0
	}
	switch c := b[1]; c {
	case '[':
		return d.sequence(b)
	case 'O':
		if len(b) < 3 {
			return key{}, 0
		}
		if b[2] == 'M' { // Enter of the keypad.
			return key{kind: keyEnter}, 3
		}
		return key{kind: cursorKey(b[2], "")}, 3
	case '\r', '\n':
		return key{kind: keyNewline}, 2
	case 0x7f, 0x08:
		return key{kind: keyKillWord}, 2
	case 'b', 'B':
		return key{kind: keyWordLeft}, 2
	case 'f', 'F':
		return key{kind: keyWordRight}, 2
	case 'd', 'D':
		return key{kind: keyKillWordRight}, 2
	default:
		if c < 0x20 { // Esc and then a control key, or Esc twice.
			return key{kind: keyNone}, 1
		}
		if !utf8.FullRune(b[1:]) {
			return key{}, 0
		}
		_, n := utf8.DecodeRune(b[1:])
		return key{}, 1 + n
	}
}

// sequence decodes a control sequence: ESC [ parameters final.
func (d *decoder) sequence(b []byte) (key, int) {
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] <= 0x3f {
		end++
	}
	switch {
	case end >= maxKeySequence:
		return key{}, end
	case end == len(b):
		return key{}, 0
	case b[end] < 0x40 || b[end] > 0x7e: // Broken: what follows is a key of its own.
		return key{}, end
	}
	params, final := string(b[2:end]), b[end]
	switch {
	case final == '[': // Function keys of the Linux console: one more byte.
		if len(b) < end+2 {
			return key{}, 0
		}
		return key{}, end + 2
	case final == '~' && params == "200":
		d.paste, d.cr = true, false
		return key{}, end + 1
	}
	return key{kind: cursorKey(final, params)}, end + 1
}

// cursorKey names the key of a control sequence.
func cursorKey(final byte, params string) keyKind {
	first, mod, _ := strings.Cut(params, ";")
	switch final {
	case 'A':
		return keyUp
	case 'B':
		return keyDown
	case 'C', 'D':
		return horizontal(final == 'C', mod != "" && mod != "2")
	case 'c', 'd': // rxvt: Ctrl+arrow.
		return horizontal(final == 'c', true)
	case 'H':
		return keyHome
	case 'F':
		return keyEnd
	case 'u': // Enter with a modifier, in the protocol of kitty.
		if first == "13" && mod != "" && mod != "1" {
			return keyNewline
		}
	case '~':
		return numberedKey(first, mod)
	}
	return keyNone
}

func horizontal(right, word bool) keyKind {
	switch {
	case right && word:
		return keyWordRight
	case right:
		return keyRight
	case word:
		return keyWordLeft
	default:
		return keyLeft
	}
}

func numberedKey(number, mod string) keyKind {
	switch number {
	case "1", "7":
		return keyHome
	case "4", "8":
		return keyEnd
	case "3":
		if mod != "" {
			return keyKillWordRight
		}
		return keyDelete
	case "27": // Enter with a modifier, in the protocol of xterm.
		if strings.HasSuffix(mod, ";13") {
			return keyNewline
		}
	}
	return keyNone
}

// pasted decodes the inside of a bracketed paste. Ctrl+C ends one whose end got lost.
func (d *decoder) pasted(b []byte) (key, int) {
	size := len(b)
	if i := bytes.IndexByte(b, 0x1b); i >= 0 {
		switch {
		case i > 0:
			b = b[:i]
		case bytes.HasPrefix(b, []byte(pasteEnd)):
			d.paste = false
			return key{}, len(pasteEnd)
		case bytes.HasPrefix([]byte(pasteEnd), b):
			return key{}, 0
		default:
			return key{}, 1
		}
	}
	if i := bytes.IndexByte(b, 0x03); i == 0 {
		d.paste = false
		return key{kind: keyInterrupt}, 1
	} else if i > 0 {
		b = b[:i]
	}
	n := len(b)
	for cut := 1; n == size && cut < utf8.UTFMax && cut <= size; cut++ { // Keep back a character that is not complete.
		if utf8.RuneStart(b[n-cut]) {
			if !utf8.FullRune(b[n-cut:]) {
				n -= cut
			}
			break
		}
	}
	if n == 0 {
		return key{}, 0
	}
	return key{kind: keyPaste, text: d.pasteText(b[:n])}, n
}

// pasteText drops control characters and makes every line end a newline.
func (d *decoder) pasteText(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for _, r := range string(b) {
		cr := d.cr
		d.cr = r == '\r'
		switch {
		case r == '\n' && cr:
		case r == '\n' || r == '\r':
			out.WriteByte('\n')
		case r != '\t' && unicode.IsControl(r):
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
