//go:build unix

package sh

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"github.com/idelchi/aura/internal/procgroup"
)

func terminate(leader *os.Process) { _ = procgroup.Terminate(leader) }
func kill(leader *os.Process)      { _ = procgroup.Kill(leader) }

// killedBy returns the signal that ended a command, 0 if none did.
func killedBy(e *exec.ExitError) (int, string) {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return int(ws.Signal()), ws.Signal().String()
	}
	return 0, ""
}

func isBusy(err error) bool          { return errors.Is(err, syscall.ETXTBSY) }
func isNotExecutable(err error) bool { return errors.Is(err, syscall.ENOEXEC) }
