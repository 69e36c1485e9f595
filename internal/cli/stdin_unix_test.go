//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What is read without being asked for, and how long it may take to begin.
func TestHasInput(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		wait  time.Duration
		limit time.Duration
		ok    bool
		said  bool
	}{
		{"pipe", defaultWait, 0, true, false},
		{"pipe", time.Minute, time.Minute, true, false},
		{"socket", defaultWait, socketWait, true, false},
		{"socket", time.Minute, time.Minute, true, false},
		{"file", defaultWait, 0, true, false},
		{"file in use", defaultWait, 0, false, true},
		{"file at its end", defaultWait, 0, false, false},
		{"device", defaultWait, 0, false, false},
	} {
		said := create(t, filepath.Join(t.TempDir(), "said"))
		in := stdin{file: standardInput(t, tt.kind), warn: (&env{err: said}).warn}
		limit, ok := in.hasInput(tt.wait)
		info, err := said.Stat()
		if ok != tt.ok || ok && limit != tt.limit || err != nil || (info.Size() > 0) != tt.said {
			t.Errorf(
				"%s, %s: got %s %v, said %v; want %s %v %v",
				tt.kind,
				tt.wait,
				limit,
				ok,
				info.Size() > 0,
				tt.limit,
				tt.ok,
				tt.said,
			)
		}
	}
}

func standardInput(t *testing.T, kind string) *os.File {
	t.Helper()
	switch kind {
	case "pipe":
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r
	case "socket":
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
		t.Cleanup(func() { r.Close(); w.Close() })
		return r
	case "device":
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	f := create(t, filepath.Join(t.TempDir(), "list"))
	if _, err := f.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	offset := map[string]int64{"file": 0, "file in use": 4, "file at its end": 8}[kind]
	if _, err := f.Seek(offset, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
