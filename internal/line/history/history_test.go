package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	long := strings.Repeat("x", maxEntry+1)
	h := Open(path, nil)
	for _, entry := range []string{"one", "one", " \n", `C:\new`, "one", "two\r\nlines", "bad \xff", long} {
		h.Add(entry)
	}
	if want := []string{"one", `C:\new`, "one", "two\r\nlines", "bad \xff", long}; !slices.Equal(h.Entries(), want) {
		t.Errorf("in memory: %.40q", h.Entries())
	}
	kept := Open(path, nil).Entries()
	if want := []string{"one", `C:\new`, "one", "two\r\nlines", "bad \ufffd"}; !slices.Equal(kept, want) {
		t.Errorf("in the file: %q", kept)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// What is too old is forgotten, also by the file.
func TestLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := Open(path, nil)
	last := ""
	for i := range 2*maxEntries + 10 {
		last = fmt.Sprint("entry ", i)
		h.Add(last)
	}
	for _, h := range []*List{h, Open(path, nil)} {
		if n := len(h.Entries()); n != maxEntries || h.Entries()[n-1] != last {
			t.Errorf("%d entries, the last is %q", n, h.Entries()[n-1])
		}
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != maxEntries {
		t.Errorf("the file has %d lines, %v", strings.Count(string(data), "\n"), err)
	}
}

// A file that cannot be kept is no error.
func TestNoFile(t *testing.T) {
	for _, path := range []string{"", t.TempDir(), filepath.Join(t.TempDir(), "no", "such", "directory")} {
		h := Open(path, nil)
		h.Add("one")
		if !slices.Equal(h.Entries(), []string{"one"}) {
			t.Errorf("%s: %q", path, h.Entries())
		}
	}
}
