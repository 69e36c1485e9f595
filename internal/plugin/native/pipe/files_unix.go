//go:build unix

package pipe

import (
	"os"
	"syscall"
)

// inherited opens a file that the parent process has left to this one.
func inherited(number uintptr, name string) *os.File {
	syscall.CloseOnExec(int(number))
	return os.NewFile(number, name)
}
