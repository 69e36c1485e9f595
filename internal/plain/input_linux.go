package plain

import "golang.org/x/sys/unix"

// flushInput forgets what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

// pendingInput is the number of bytes that were typed and not read.
func pendingInput(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
