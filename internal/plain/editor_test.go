package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlainLines(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	r, w := io.Pipe()
	go func() {
		fmt.Fprintf(w, "one\r\n\n%s\ntrailing \\\nbad \xff byte\nlast", long)
		w.Close()
	}()
	var out strings.Builder
	e := NewEditor(r, &out, EditorOptions{})
	defer e.Close()
	for _, want := range []string{"one", "", long, `trailing \`, "bad \ufffd byte", "last"} {
		got, err := e.ReadLine(t.Context(), "> ")
		if err != nil || got != want {
			t.Fatalf("got %.40q, %v; want %.40q", got, err, want)
		}
	}
	for range 2 {
		if _, err := e.ReadLine(t.Context(), "> "); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	}
	if out.Len() > 0 {
		t.Errorf("prompts on a pipe: %q", out.String())
	}
}

func TestGivenUpReadLosesNothing(t *testing.T) {
	r, w := io.Pipe()
	e := NewEditor(r, io.Discard, EditorOptions{})
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := e.ReadLine(ctx, "")
		failed <- err
	}()
	io.WriteString(w, "ha") // Returns when it was read: the line is being waited for.
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read: %v", err)
	}
	go func() {
		io.WriteString(w, "lf\n")
		w.Close()
	}()
	if got, err := e.ReadLine(t.Context(), ""); err != nil || got != "half" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := e.ReadLine(t.Context(), ""); !errors.Is(err, io.EOF) {
		t.Errorf("after the last line: %v", err)
	}
}

func TestHistoryFile(t *testing.T) {
	const maxEntries = 1000
	path := filepath.Join(t.TempDir(), "history")
	read := func(lines ...string) *Editor {
		e := NewEditor(strings.NewReader(strings.Join(lines, "\n")), io.Discard, EditorOptions{History: path})
		defer e.Close()
		for {
			if _, err := e.ReadLine(t.Context(), ""); err != nil {
				return e
			}
		}
	}
	read("one", "one", " ", `C:\new`, "one")
	e := read()
	e.history.Add("two\nlines")
	e = read()
	if want := []string{"one", `C:\new`, "one", "two\nlines"}; !slices.Equal(e.history.Entries(), want) {
		t.Errorf("history is %q, want %q", e.history.Entries(), want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	var many []string
	for i := range 2*maxEntries + 10 {
		many = append(many, fmt.Sprint("entry ", i))
	}
	read(many...)
	e = read()
	if n := len(e.history.Entries()); n != maxEntries || e.history.Entries()[n-1] != many[len(many)-1] {
		t.Errorf("%d entries are kept", n)
	}
	if data, _ := os.ReadFile(path); strings.Count(string(data), "\n") != maxEntries {
		t.Errorf("the file has %d lines", strings.Count(string(data), "\n"))
	}
}

func TestHistoryThatCannotBeKept(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "such", "directory")} {
		e := NewEditor(strings.NewReader("one\n"), io.Discard, EditorOptions{History: path})
		if got, err := e.ReadLine(t.Context(), ""); got != "one" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		e.Close()
	}
}
