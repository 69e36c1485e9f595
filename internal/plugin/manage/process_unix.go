//go:build unix

package manage

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets the program and all it starts be killed together, and keeps it from
// asking questions on the terminal.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	} else {
		return err
	}
}
