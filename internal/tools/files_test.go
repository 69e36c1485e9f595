package tools

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/tool"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 3000)
	dir := tree(t, map[string]string{
		"a.txt":      "one\ntwo\nthree\n",
		"no-newline": "one\ntwo",
		"empty":      "",
		"crlf":       "a\r\nb\r\n",
		"bom":        "\ufeffa\n",
		"latin1":     "caf\xe9\n",
		"long":       long + "\nnext\n",
		"wide":       strings.Repeat("ä", 1500) + "\n",
		"data.bin":   "ab\x00cd",
		"lib.so":     "\x7fELF\x02",
		"doc.pdf":    "%PDF-1.4",
		"utf16":      "\xff\xfea\x00",
		"pic.png":    "\x89PNG\r\n\x1a\nrest",
		"huge-line":  strings.Repeat("y", 200_000) + "\nend\n",
		"sub/":       "",
		"blank":      "\n\n",
	})
	tests := []struct {
		name string
		args args
		want string
	}{
		{"whole", args{"path": "a.txt"}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		{"no newline at the end", args{"path": "no-newline"}, "     1\tone\n     2\ttwo\n"},
		{"absolute", args{"path": filepath.Join(dir, "a.txt"), "line_start": 3.0}, "     3\tthree\n"},
		{
			"range",
			args{"path": "a.txt", "line_start": 2.0, "line_end": 2.0},
			"     2\ttwo\n[lines 2-2 of 3 are shown; continue with line_start 3]\n",
		},
		{
			"count",
			args{"path": "a.txt", "count": 1.0},
			"     1\tone\n[lines 1-1 of 3 are shown; continue with line_start 2]\n",
		},
		{
			"count within the range",
			args{"path": "a.txt", "line_start": 2.0, "line_end": 3.0, "count": 9.0},
			"     2\ttwo\n     3\tthree\n",
		},
		{"end after the end", args{"path": "a.txt", "line_end": 99.0}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		{"empty", args{"path": "empty"}, "[empty is empty]"},
		{"blank lines", args{"path": "blank"}, "     1\t\n     2\t\n"},
		{"CRLF", args{"path": "crlf"}, "     1\ta\n     2\tb\n[the lines end with CRLF]\n"},
		{"BOM", args{"path": "bom"}, "     1\ta\n"},
		{"not UTF-8", args{"path": "latin1"}, "     1\tcaf\ufffd\n[bytes that are not UTF-8 are shown as \ufffd]\n"},
		{
			"long line",
			args{"path": "long"},
			"     1\t" + long[:2000] + "... [1000 more bytes in this line]\n     2\tnext\n",
		},
		{
			"cut between characters",
			args{"path": "wide"},
			"     1\t" + strings.Repeat("ä", 1000) + "... [1000 more bytes in this line]\n",
		},
		{
			"line longer than the buffer",
			args{"path": "huge-line"},
			"     1\t" + strings.Repeat("y", 2000) + "... [198000 more bytes in this line]\n     2\tend\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, good(t, "Read", dir, tt.args), tt.want) })
	}
	errors := []struct {
		name string
		args args
		want string
	}{
		{"missing", args{"path": "a.tx"}, "a.tx does not exist (did you mean a.txt?)"},
		{"wrong ending", args{"path": "data.json"}, "data.json does not exist (did you mean data.bin?)"},
		{"missing directory", args{"path": "no/such/a.txt"}, "(nor does the directory no)"},
		{"file as directory", args{"path": "a.txt/b"}, "not a directory"},
		{"directory", args{"path": "sub"}, "sub is a directory: use Ls"},
		{"binary", args{"path": "data.bin"}, "data.bin is not text: binary data, 5 B"},
		{"ELF", args{"path": "lib.so"}, "ELF binary"},
		{"PDF", args{"path": "doc.pdf"}, "PDF document"},
		{"UTF-16", args{"path": "utf16"}, "UTF-16"},
		{
			"after the end",
			args{"path": "a.txt", "line_start": 4.0},
			"a.txt has only 3 lines: line_start 4 is after its end",
		},
		{"backwards", args{"path": "a.txt", "line_start": 3.0, "line_end": 2.0}, "line_end 2 is before line_start 3"},
		{"zero", args{"path": "a.txt", "line_start": 0.0}, "less than the minimum"},
		{"no path", args{"path": ""}, "must not be empty"},
		{"NUL in the path", args{"path": "a\x00b"}, "invalid"},
	}
	for _, tt := range errors {
		t.Run(tt.name, func(t *testing.T) { bad(t, "Read", dir, tt.args, tt.want) })
	}
}

func TestReadLimits(t *testing.T) {
	dir := tree(
		t,
		map[string]string{
			"many":  strings.Repeat("line\n", 5000),
			"wide":  strings.Repeat(strings.Repeat("w", 1000)+"\n", 1000),
			"small": "1\n2\n3\n",
		},
	)
	got := good(t, "Read", dir, args{"path": "many"})
	contains(t, got, "  2000\tline\n[lines 1-2000 of 5000 are shown; continue with line_start 2001]")
	contains(t, good(t, "Read", dir, args{"path": "many", "line_start": 4999.0}), "  4999\tline\n  5000\tline\n")
	if got := good(t, "Read", dir, args{"path": "wide"}); len(got) > readBytes+4096 {
		t.Errorf("%d bytes", len(got))
	}
	small := named(t, "Read", Options{ReadSmallFileTokens: 10})
	r, err := useWith(t, small, tool.Call{Workdir: dir, Args: args{"path": "small", "line_start": 2.0, "count": 1.0}})
	must(t, err)
	contains(t, r.Text, "     1\t1\n", "     3\t3\n", "the file is small")
	r, err = useWith(t, small, tool.Call{Workdir: dir, Args: args{"path": "many", "line_start": 2.0, "count": 1.0}})
	must(t, err)
	contains(t, r.Text, "     2\tline\n[lines 2-2")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small.Execute(ctx, tool.Call{Workdir: dir, Args: args{"path": "many"}}); err == nil {
		t.Error("a cancelled call reads on")
	}
}

func TestReadImage(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.png":   "\x89PNG\r\n\x1a\nrest",
		"a.jpg":   "\xff\xd8\xffx",
		"a.gif":   "GIF89ax",
		"a.webp":  "RIFF\x00\x00\x00\x00WEBPx",
		"big.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", readImage),
	})
	for name, kind := range map[string]string{
		"a.png": "image/png", "a.jpg": "image/jpeg", "a.gif": "image/gif", "a.webp": "image/webp",
	} {
		r, err := use(t, "Read", dir, args{"path": name})
		must(t, err)
		if len(r.Images) != 1 || r.Images[0].MediaType != kind || string(r.Images[0].Data) != content(t, dir, name) {
			t.Errorf("%s: %+v", name, r.Images)
		}
		contains(t, r.Text, name, kind)
	}
	bad(t, "Read", dir, args{"path": "big.png"}, "too large")
}

func TestWrite(t *testing.T) {
	dir := tree(t, map[string]string{"old": "old content", "sub/": ""})
	equal(
		t,
		good(t, "Write", dir, args{"path": "a/b/new.txt", "content": "x\r\ny"}),
		"created a/b/new.txt: 4 bytes, 2 lines",
	)
	equal(t, content(t, dir, "a/b/new.txt"), "x\r\ny")
	equal(t, good(t, "Write", dir, args{"path": "old", "content": ""}), "replaced old: 0 bytes, 0 lines")
	equal(t, content(t, dir, "old"), "")
	bad(t, "Write", dir, args{"path": "sub", "content": "x"}, "sub is a directory")
	bad(t, "Write", dir, args{"path": "new/", "content": "x"}, "names a directory")
	bad(t, "Write", dir, args{"path": "old/x", "content": "x"}, "a part of the path is a file")
	bad(t, "Write", dir, args{"path": "x"}, `missing required parameter "content"`)
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 3 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestEdit(t *testing.T) {
	const code = "package a\n\nfunc A() {\n\treturn 1\n}\n\nfunc B() {\n\treturn 1\n}\n"
	tests := []struct{ name, before, old, new, after string }{
		{"one line", code, "func A()", "func C()", strings.Replace(code, "A", "C", 1)},
		{"several lines", code, "func A() {\n\treturn 1\n}\n", "", "package a\n\n\nfunc B() {\n\treturn 1\n}\n"},
		{"CRLF file, LF text", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF file, CRLF text", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		{"CRLF file, one line for two", "a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"},
		{"LF file, CRLF text", "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{"mixed file, CRLF part", "a\nb\r\nc\r\n", "b\nc", "x\ny", "a\nx\r\ny\r\n"},
		{"mixed file, LF part", "a\nb\nc\r\n", "a\nb", "x\ny", "x\ny\nc\r\n"},
		{"BOM stays", "\ufeffa\nb\n", "a", "x", "\ufeffx\nb\n"},
		{"bytes that are not UTF-8 stay", "caf\xe9 a\n", "a\n", "b\n", "caf\xe9 b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"f": tt.before})
			good(t, "Edit", dir, args{"file_path": "f", "old_string": tt.old, "new_string": tt.new})
			if got := content(t, dir, "f"); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
		})
	}
	dir := tree(t, map[string]string{"a.go": code, "sub/": ""})
	equal(
		t,
		good(
			t,
			"Edit",
			dir,
			args{"file_path": "a.go", "old_string": "return 1", "new_string": "return 2", "replace_all": true},
		),
		"edited a.go: 2 replacements\n--- a.go\n+++ a.go\n@@ -1,9 +1,9 @@\n package a\n \n func A() {\n"+
			"-\treturn 1\n+\treturn 2\n }\n \n func B() {\n-\treturn 1\n+\treturn 2\n }",
	)

	dir = tree(t, map[string]string{"a.go": code, "sub/": ""})
	errors := []struct {
		name string
		args args
		want string
	}{
		{
			"several",
			args{"file_path": "a.go", "old_string": "return 1", "new_string": "x"},
			"occurs 2 times (lines 4, 8)",
		},
		{
			"not found",
			args{"file_path": "a.go", "old_string": "fmt.Println()", "new_string": "x"},
			"not found: nothing in the file is like it",
		},
		{
			"nearly",
			args{"file_path": "a.go", "old_string": "func AB() {", "new_string": "x"},
			"the most similar place is line 3:",
		},
		{
			"indentation",
			args{"file_path": "a.go", "old_string": "func A() {\n  return 1", "new_string": "x"},
			"     4\t\treturn 1",
		},
		{"empty", args{"file_path": "a.go", "old_string": "", "new_string": "x"}, "old_string is empty"},
		{"same", args{"file_path": "a.go", "old_string": "x", "new_string": "x"}, "nothing to change"},
		{
			"missing",
			args{"file_path": "b.go", "old_string": "x", "new_string": "y"},
			"b.go does not exist (did you mean a.go?)",
		},
		{"directory", args{"file_path": "sub", "old_string": "x", "new_string": "y"}, "is a directory"},
	}
	for _, tt := range errors {
		t.Run(tt.name, func(t *testing.T) { bad(t, "Edit", dir, tt.args, tt.want) })
	}
	equal(t, content(t, dir, "a.go"), code)
}

func TestMkdir(t *testing.T) {
	dir := tree(t, map[string]string{"file": "", "there/": ""})
	equal(t, good(t, "Mkdir", dir, args{"paths": []any{"a/b", "there"}}), "created a/b\nexists there")
	if info, err := os.Stat(filepath.Join(dir, "a", "b")); err != nil || !info.IsDir() {
		t.Error(err)
	}
	bad(
		t,
		"Mkdir",
		dir,
		args{"paths": []any{"new", "file"}},
		"file exists and is not a directory (before that: created new)",
	)
	bad(t, "Mkdir", dir, args{"paths": []any{"file/x"}}, "part of the path is a file")
	bad(t, "Mkdir", dir, args{"paths": []any{}}, "at least 1")
}

func TestHome(t *testing.T) {
	dir := tree(t, map[string]string{"f": "x\n"})
	t.Setenv("HOME", dir)
	if runtime.GOOS == "windows" {
		t.Setenv("USERPROFILE", dir)
	}
	equal(t, good(t, "Read", t.TempDir(), args{"path": "~/f"}), "     1\tx\n")
	bad(t, "Read", t.TempDir(), args{"path": "~f"}, "~f does not exist")
}
