//go:build unix

package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Lead makes cmd, before it starts, the leader of a session and so of a process group
// of its own: everything it starts can be signalled with it, Ctrl+C does not reach it,
// and it has no terminal, where a question for a password would wait for ever. It
// replaces cmd.SysProcAttr.
//
// What takes care to leave the group is out of reach.
func Lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Terminate asks the group that p leads to end. The error is os.ErrProcessDone if there
// is nobody left, and errors.ErrUnsupported, with nothing done, on Windows, which knows
// no such request.
//
// As Kill and Alive do, it works on after p was waited for: the number stays reserved
// for as long as the group has members.
func Terminate(p *os.Process) error { return send(p, syscall.SIGTERM) }

// Kill ends p and everything it started. The error is os.ErrProcessDone if there is
// nobody left. On Windows, what p started is lost from sight when p was waited for.
func Kill(p *os.Process) error { return send(p, syscall.SIGKILL) }

// Alive reports whether the group that p leads has members left; dead ones that nobody
// has waited for count. On Windows it is always false.
func Alive(p *os.Process) bool {
	err := send(p, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func send(p *os.Process, s syscall.Signal) error {
	if p.Pid <= 1 { // Never a leader; the signal would go to our own group, or to everybody.
		return os.ErrProcessDone
	}
	err := syscall.Kill(-p.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
