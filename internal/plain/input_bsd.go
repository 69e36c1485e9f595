//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package plain

import "golang.org/x/sys/unix"

// flushInput forgets what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) } // FREAD

// pendingInput is the number of bytes that were typed and not read.
func pendingInput(fd int) int {
	n, err := unix.IoctlGetInt(fd, 0x4004667f) // FIONREAD
	if err != nil {
		return 0
	}
	return n
}
