package plain

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/line"
)

// decoder turns the bytes of a terminal into keys, with the names that Bubble Tea gives them.
// Sequences may be split between calls. A lone Esc waits for the next key and makes it an Alt key, as in
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
func (d *decoder) feed(b []byte) []line.Key {
	d.buf = append(d.buf, b...)
	var keys []line.Key
	used := 0
	for used < len(d.buf) {
		k, n := d.next(d.buf[used:])
		if n == 0 {
			break
		}
		used += n
		if k != (line.Key{}) {
			keys = append(keys, k)
		}
	}
	d.buf = append(d.buf[:0], d.buf[used:]...)
	return keys
}

// next decodes one key, or what is none; n is 0 if b is the beginning of something.
func (d *decoder) next(b []byte) (k line.Key, n int) {
	if d.paste {
		return d.pasted(b)
	}
	switch c := b[0]; {
	case c == 0x1b:
		name, n := d.escaped(b)
		return line.Key{Name: name}, n
	case c < 0x20 || c == 0x7f:
		return line.Key{Name: controlKey(c)}, 1
	case !utf8.FullRune(b):
		return line.Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1 || unicode.IsControl(r):
		return line.Key{}, n
	case r == ' ':
		return line.Key{Name: "space", Text: " "}, n
	}
	return line.Key{Name: string(r), Text: string(r)}, n
}

// controlKey names the key of a control character.
func controlKey(c byte) string {
	switch {
	case c == '\t':
		return "tab"
	case c == '\r':
		return "enter"
	case c == 0x7f:
		return "backspace"
	case c == 0:
		return "ctrl+space"
	case c <= 0x1a:
		return "ctrl+" + string(rune('a'+c-1))
	}
	return "ctrl+" + string(rune(c+0x40))
}

// escaped decodes what begins with Esc.
func (d *decoder) escaped(b []byte) (name string, n int) {
	if len(b) < 2 {
		return "", 0
	}
	switch c := b[1]; {
	case c == '[':
		return d.sequence(b)
	case c == 'O':
		if len(b) < 3 {
			return "", 0
		}
		return keypadKey(b[2]), 3
	case c == '\r':
		return "alt+enter", 2
	case c == 0x7f:
		return "alt+backspace", 2
	case c == '\n' || c == 0x08:
		return "ctrl+alt+" + string(rune('a'+c-1)), 2
	case c < 0x20: // Esc and then a control key, or Esc twice.
		return "", 1
	case c >= 'A' && c <= 'Z':
		return "alt+shift+" + string(unicode.ToLower(rune(c))), 2
	case !utf8.FullRune(b[1:]):
		return "", 0
	}
	r, n := utf8.DecodeRune(b[1:])
	if r == utf8.RuneError || unicode.IsControl(r) {
		return "", 1 + n
	}
	return "alt+" + string(r), 1 + n
}

// sequence decodes a control sequence: ESC [ parameters final.
func (d *decoder) sequence(b []byte) (name string, n int) {
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] <= 0x3f {
		end++
	}
	switch {
	case end >= maxKeySequence:
		return "", end
	case end == len(b):
		return "", 0
	case b[end] < 0x40 || b[end] > 0x7e: // Broken: what follows is a key of its own.
		return "", end
	}
	params, final := strings.Split(string(b[2:end]), ";"), b[end]
	switch {
	case final == '[': // Function keys of the Linux console: one more byte.
		if len(b) < end+2 {
			return "", 0
		}
		return "", end + 2
	case final == '~' && params[0] == "200":
		d.paste, d.cr = true, false
		return "", end + 1
	}
	return sequenceKey(final, params), end + 1
}

// sequenceKey names the key of a control sequence.
func sequenceKey(final byte, params []string) string {
	code, name := params[0], ""
	mod := ""
	if len(params) > 1 {
		mod, _, _ = strings.Cut(params[1], ":")
	}
	switch final {
	case 'u': // The protocol of kitty.
		name = charKey(code)
	case '~':
		if name = numberedKey(code); code == "27" && len(params) > 2 { // The protocol of xterm.
			name = charKey(params[2])
		}
	case 'Z':
		return "shift+tab"
	default:
		if name = cursorKey(final); name == "" && final >= 'a' && final <= 'd' { // rxvt.
			return "shift+" + cursorKey(final-'a'+'A')
		}
	}
	if name == "" {
		return ""
	}
	return modifiers(mod) + name
}

// modifiers is what stands before the name of a key.
func modifiers(param string) string {
	n, err := strconv.Atoi(param)
	if err != nil || n < 2 {
		return ""
	}
	prefix := ""
	for _, m := range []struct {
		bit  int
		name string
	}{{4, "ctrl+"}, {2, "alt+"}, {1, "shift+"}, {8, "meta+"}} {
		if (n-1)&m.bit != 0 {
			prefix += m.name
		}
	}
	return prefix
}

// cursorKey names the keys whose sequences end in a letter.
func cursorKey(final byte) string {
	switch final {
	case 'A':
		return "up"
	case 'B':
		return "down"
	case 'C':
		return "right"
	case 'D':
		return "left"
	case 'H':
		return "home"
	case 'F':
		return "end"
	}
	return ""
}

// keypadKey names the key of ESC O and a letter.
func keypadKey(c byte) string {
	switch {
	case c == 'M':
		return "enter"
	case c >= 'a' && c <= 'd': // rxvt.
		return "ctrl+" + cursorKey(c-'a'+'A')
	}
	return cursorKey(c)
}

// numberedKey names the keys whose sequences have a number and end in ~.
func numberedKey(number string) string {
	switch number {
	case "1", "7":
		return "home"
	case "4", "8":
		return "end"
	case "3":
		return "delete"
	case "5":
		return "pgup"
	case "6":
		return "pgdown"
	}
	return ""
}

// charKey names the keys that terminals report as a character if a modifier is pressed with them.
func charKey(code string) string {
	switch code {
	case "13":
		return "enter"
	case "127":
		return "backspace"
	}
	return ""
}

// pasted decodes the inside of a bracketed paste. Ctrl+C ends one whose end got lost.
func (d *decoder) pasted(b []byte) (line.Key, int) {
	size := len(b)
	if i := bytes.IndexByte(b, 0x1b); i >= 0 {
		switch {
		case i > 0:
			b = b[:i]
		case bytes.HasPrefix(b, []byte(pasteEnd)):
			d.paste = false
			return line.Key{}, len(pasteEnd)
		case bytes.HasPrefix([]byte(pasteEnd), b):
			return line.Key{}, 0
		default:
			return line.Key{}, 1
		}
	}
	if i := bytes.IndexByte(b, 0x03); i == 0 {
		d.paste = false
		return line.Key{Name: "ctrl+c"}, 1
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
		return line.Key{}, 0
	}
	return line.Key{Text: d.pasteText(b[:n]), Pasted: true}, n
}

// pasteText makes every line end a newline, also where one is split between calls.
func (d *decoder) pasteText(b []byte) string {
	text := string(b)
	if d.cr {
		text = strings.TrimPrefix(text, "\n")
	}
	d.cr = strings.HasSuffix(string(b), "\r")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}
