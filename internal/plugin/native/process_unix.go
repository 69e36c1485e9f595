//go:build unix

package native

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets the program and all it starts be killed together, and keeps it away
// from the terminal.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	} else {
		return err
	}
}

// leave hands files to the program and returns their numbers there.
func leave(cmd *exec.Cmd, files ...*os.File) (numbers []uint64) {
	for _, f := range files {
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		numbers = append(numbers, uint64(2+len(cmd.ExtraFiles)))
	}
	return numbers
}
