package pipe

import (
	"os"
	"syscall"
)

// inherited opens a file that the parent process has left to this one.
func inherited(number uintptr, name string) *os.File {
	_ = syscall.SetHandleInformation(syscall.Handle(number), syscall.HANDLE_FLAG_INHERIT, 0)
	return os.NewFile(number, name)
}
