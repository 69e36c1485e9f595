//go:build unix

package mcp_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/idelchi/aura/internal/mcp"
)

// No process outlives the session: neither a server that does not want to leave, nor
// what a server started.
func TestNoOrphans(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	h := open(t, mcp.Options{}, stdio("family", "family", file))
	if len(h.Connected()) != 1 {
		t.Fatalf("not connected: %q", h.Notices())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child is not there: %v", err)
	}
	h.Close()
	eventually(t, "the end of the child", func() bool { return gone(pid) })
}

// gone reports whether a process has ended; one that nobody has waited for counts.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
