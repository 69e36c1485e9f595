package native

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup kills a program with all it started.
func killGroup(p *os.Process) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run(); err == nil {
		return nil
	}
	return p.Kill()
}

// leave hands files to the program and returns their numbers there.
func leave(cmd *exec.Cmd, files ...*os.File) (numbers []uint64) {
	for _, f := range files {
		h := syscall.Handle(f.Fd())
		_ = syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT)
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
		numbers = append(numbers, uint64(h))
	}
	return numbers
}
