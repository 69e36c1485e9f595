package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/tool"
)

const readText = `Read a text file, or look at an image (PNG, JPEG, GIF, WebP).

- Each line is shown as its number, a tab, and the text; the number and the tab are not part of the file.
- Without a range the file is shown from line 1, at most 2000 lines or 256 KB; the end of the result says whether there is more. Lines over 2000 bytes are cut.
- With line_start and line_end (or count) a part of a large file is shown.
- Directories are listed with Ls.`

const (
	readLines   = 2000
	readBytes   = 256 << 10
	readLine    = 2000
	readImage   = 5 << 20
	readSniff   = 8 << 10
	countToEnd  = 32 << 20 // Up to this size the lines after the last one shown are counted.
	readAtOnce  = 64 << 10
	bytesPerTok = 4
)

func readTool(smallTokens int) tool.Tool {
	return tool.Tool{
		Name:        "Read",
		Description: readText,
		Examples:    `{"path":"main.go"} or {"path":"main.go","line_start":100,"count":50}`,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file, relative to the working directory or absolute."},
"line_start":{"type":"integer","minimum":1,"description":"First line to show (default 1)."},
"line_end":{"type":"integer","minimum":1,"description":"Last line to show."},
"count":{"type":"integer","minimum":1,"description":"How many lines to show, instead of line_end."}},
"required":["path"],"additionalProperties":false}`),
		SideEffects: []string{"read"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			list := []string{home(text(args, "path"))}
			return tool.Paths{Read: list, Record: list}, nil
		},
		Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			return read(ctx, call, smallTokens)
		},
	}
}

// span is the lines that are wanted, from 1; last is 0 for no end.
type span struct{ first, last int }

func read(ctx context.Context, call tool.Call, smallTokens int) (tool.Result, error) {
	want, err := wanted(call.Args)
	if err != nil {
		return tool.Result{}, err
	}
	path := absolute(call.Workdir, text(call.Args, "path"))
	shown := display(call.Workdir, path)
	info, err := os.Stat(path)
	if err != nil {
		return tool.Result{}, explain(call.Workdir, path, err)
	}
	if err := regular(call.Workdir, path, info); err != nil {
		return tool.Result{}, err
	}
	f, stop, err := openFor(ctx, path)
	if err != nil {
		return tool.Result{}, explain(call.Workdir, path, err)
	}
	defer stop()
	note := ""
	if ranged := want != (span{first: 1}); ranged && info.Size() <= int64(smallTokens)*bytesPerTok {
		want, note = span{first: 1}, "[the file is small: all of it is shown]"
	}
	r := bufio.NewReaderSize(&stoppable{ctx, f}, readAtOnce)
	head, err := r.Peek(readSniff)
	if err != nil && !errors.Is(err, io.EOF) {
		return tool.Result{}, explain(call.Workdir, path, err)
	}
	if len(head) == 0 {
		return tool.Result{Text: "[" + shown + " is empty]"}, nil
	}
	kind, image := fileType(head)
	switch {
	case image:
		return readPicture(r, shown, kind, info.Size())
	case kind != "":
		return tool.Result{}, fmt.Errorf("%s is not text: %s, %s", shown, kind, bytesText(info.Size()))
	}
	p := page{want: want}
	if err := p.fill(r, info.Size() <= countToEnd); err != nil {
		return tool.Result{}, explain(call.Workdir, path, err)
	}
	if p.shown == 0 {
		return tool.Result{}, fmt.Errorf(
			"%s has only %d lines: line_start %d is after its end",
			shown,
			p.total,
			want.first,
		)
	}
	return tool.Result{Text: p.String() + note}, nil
}

// wanted reads the range from the arguments.
func wanted(args map[string]any) (span, error) {
	s := span{first: max(1, integer(args, "line_start")), last: integer(args, "line_end")}
	if s.last != 0 && s.last < s.first {
		return s, fmt.Errorf("line_end %d is before line_start %d", s.last, s.first)
	}
	if n := integer(args, "count"); n > 0 && (s.last == 0 || s.first+n-1 < s.last) {
		s.last = s.first + n - 1
	}
	return s, nil
}

// page collects the lines of a file that are shown.
type page struct {
	want    span
	out     strings.Builder
	shown   int
	total   int  // Lines seen so far; all lines when complete.
	more    bool // There are lines after the last one shown.
	counted bool // total is the number of lines of the file.
	invalid bool
	crlf    bool
}

// fill reads until the page is full, and to the end of the file if count is set.
// It never holds more than one buffer and the page.
func (p *page) fill(r *bufio.Reader, count bool) error {
	for {
		line, rest, err := nextLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) == 0 && err != nil {
			p.counted = true
			return nil
		}
		p.total++
		full := p.shown >= readLines || p.out.Len() >= readBytes || p.want.last != 0 && p.total > p.want.last
		switch {
		case p.total < p.want.first:
		case full:
			p.more = true
			if !count {
				return nil
			}
		default:
			p.add(line, rest)
		}
	}
}

func (p *page) add(line []byte, rest int) {
	if p.total == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line, _ = bytes.CutSuffix(line, []byte("\n"))
	line, cr := bytes.CutSuffix(line, []byte("\r"))
	p.crlf = p.crlf || cr
	if len(line) > readLine {
		rest += len(line) - readLine
		line = line[:readLine]
		// Not in the middle of a character.
		for i := 0; i < utf8.UTFMax && len(line) > 0 && !utf8.Valid(line[max(0, len(line)-utf8.UTFMax):]); i++ {
			if r, _ := utf8.DecodeLastRune(line); r != utf8.RuneError {
				break
			}
			line = line[:len(line)-1]
			rest++
		}
	}
	shown := string(line)
	if !utf8.ValidString(shown) {
		p.invalid = true
		shown = strings.ToValidUTF8(shown, "\ufffd")
	}
	fmt.Fprintf(&p.out, "%6d\t%s", p.total, shown)
	if rest > 0 {
		fmt.Fprintf(&p.out, "... [%d more bytes in this line]", rest)
	}
	p.out.WriteByte('\n')
	p.shown++
}

// String is the page with what the model should know about it.
func (p *page) String() string {
	var notes []string
	if p.more {
		last := p.want.first + p.shown - 1
		of := ""
		if p.counted {
			of = fmt.Sprintf(" of %d", p.total)
		}
		notes = append(
			notes,
			fmt.Sprintf("lines %d-%d%s are shown; continue with line_start %d", p.want.first, last, of, last+1),
		)
	}
	if p.crlf {
		notes = append(notes, "the lines end with CRLF")
	}
	if p.invalid {
		notes = append(notes, "bytes that are not UTF-8 are shown as \ufffd")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&p.out, "[%s]\n", strings.Join(notes, "; "))
	}
	return p.out.String()
}

// nextLine reads one line with its end. Of a line that is longer than the buffer
// only the beginning comes back, and the number of bytes that followed it.
func nextLine(r *bufio.Reader) (line []byte, rest int, err error) {
	line, err = r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, 0, err
	}
	line = bytes.Clone(line[:readLine+utf8.UTFMax])
	rest = readAtOnce - len(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = r.ReadSlice('\n')
		rest += len(bytes.TrimRight(more, "\r\n"))
	}
	return line, rest, err
}

func readPicture(r io.Reader, shown, kind string, size int64) (tool.Result, error) {
	if size > readImage {
		return tool.Result{}, fmt.Errorf(
			"%s is too large to look at: %s, %s; at most %s",
			shown,
			kind,
			bytesText(size),
			bytesText(readImage),
		)
	}
	data, err := io.ReadAll(io.LimitReader(r, readImage))
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", shown, err)
	}
	return tool.Result{
		Text:   fmt.Sprintf("[%s: %s, %s]", shown, kind, bytesText(int64(len(data)))),
		Images: []tool.Image{{MediaType: kind, Data: data}},
	}, nil
}

// fileType names what is not text by the beginning of a file, empty for text; image
// says that it is a picture models can see, and kind then its media type.
func fileType(head []byte) (kind string, image bool) {
	for _, m := range [...]struct{ magic, kind string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.kind, true
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp", true
	}
	for _, m := range [...]struct{ magic, kind string }{
		{"\x7fELF", "ELF binary"}, {"%PDF-", "PDF document"}, {"PK\x03\x04", "ZIP archive"}, {"\x1f\x8b", "gzip data"},
		{"BZh", "bzip2 data"}, {"\xfd7zXZ\x00", "xz data"}, {"\x28\xb5\x2f\xfd", "zstd data"},
		{"SQLite format 3\x00", "SQLite database"},
		{"\xca\xfe\xba\xbe", "Mach-O or Java binary"}, {"\xcf\xfa\xed\xfe", "Mach-O binary"},
		{"\x00asm", "WebAssembly module"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) && (m.magic != "BZh" || binary(head)) {
			return m.kind, false
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text (convert it first, for example with iconv)", false
	case binary(head) && bytes.HasPrefix(head, []byte("MZ")):
		return "Windows executable", false
	case binary(head):
		return "binary data", false
	}
	return "", false
}

// binary reports whether the beginning of a file says that it is not text.
func binary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), readSniff)], 0) >= 0
}

// stoppable is a file that is read only as long as the call is wanted.
type stoppable struct {
	ctx context.Context
	f   *os.File
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.f.Read(p)
}
