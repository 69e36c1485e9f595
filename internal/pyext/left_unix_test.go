//go:build unix

package pyext

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Everything that an extension started is gone when the session is.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	w := start(t, files{"a": fmt.Sprintf(`
import os, subprocess, threading, time
def register(api):
    child = subprocess.Popen(["sleep", "1000"])
    threading.Thread(target=time.sleep, args=(1000,)).start()
    with open(%q, "w") as f: f.write(f"{os.getpid()} {child.pid}")
`, file)})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	for _, word := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(word)
		for range 1000 { // The child is reaped by somebody else.
			if err = syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
				err = syscall.ESRCH
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is there: %v", pid, err)
		}
	}
}

// zombie reports whether a process has ended but nobody asked for its state.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}
