//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// notifyBrokenPipe makes a write to a pipe that nobody reads an error, and sends the
// signal to ch. Children are not affected.
func notifyBrokenPipe(ch chan<- os.Signal) { signal.Notify(ch, syscall.SIGPIPE) }

// brokenPipe reports whether f is a pipe that nobody reads any more.
func brokenPipe(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
