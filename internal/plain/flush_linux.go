package plain

import "golang.org/x/sys/unix"

// flushInput forgets what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
