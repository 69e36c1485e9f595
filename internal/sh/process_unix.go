//go:build unix

package sh

import (
	"errors"
	"os/exec"
	"syscall"
)

type signal = syscall.Signal

const (
	sigTerm = syscall.SIGTERM
	sigKill = syscall.SIGKILL
)

// ownGroup makes the command the leader of a new session: its descendants can
// be signalled together, and none can read from or write to the terminal, where
// a question for a password would otherwise wait for ever.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signalGroup signals the group that pid led. The number stays reserved for
// as long as the group has members.
func signalGroup(pid int, s signal) { _ = syscall.Kill(-pid, s) }

// groupAlive reports whether the group that pid led has members left.
func groupAlive(pid int) bool {
	err := syscall.Kill(-pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// killedBy returns the signal that ended a command, 0 if none did.
func killedBy(e *exec.ExitError) (int, string) {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return int(ws.Signal()), ws.Signal().String()
	}
	return 0, ""
}

func isBusy(err error) bool          { return errors.Is(err, syscall.ETXTBSY) }
func isNotExecutable(err error) bool { return errors.Is(err, syscall.ENOEXEC) }
