//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package plain

import "golang.org/x/sys/unix"

// flushInput forgets what was typed and not read.
func flushInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) } // FREAD
