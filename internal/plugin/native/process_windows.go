package native

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps the program away from the console: Ctrl+C does not reach it, and it
// opens no window.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
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
