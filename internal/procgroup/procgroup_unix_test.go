//go:build unix

package procgroup_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/idelchi/aura/internal/procgroup"
)

// Who ignores the request stays, and can be killed when its leader is long gone.
func TestTerminate(t *testing.T) {
	t.Parallel()
	cmd, lines := family(t)
	if err := procgroup.Terminate(cmd.Process); err != nil {
		t.Error(err)
	}
	exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the leader: %v", cmd.ProcessState)
	}
	if !procgroup.Alive(cmd.Process) {
		t.Error("the child is gone")
	}
	if err := procgroup.Kill(cmd.Process); err != nil {
		t.Error(err)
	}
	gone(t, lines)
}

// A leader is away from the terminal and from the group of the test.
func TestLead(t *testing.T) {
	t.Parallel()
	cmd, _ := family(t)
	defer func() { _ = procgroup.Kill(cmd.Process) }()
	pid := cmd.Process.Pid
	if session, err := unix.Getsid(pid); session != pid {
		t.Errorf("session %d of %d: %v", session, pid, err)
	}
	if id, err := unix.Getpgid(pid); id != pid {
		t.Errorf("group %d of %d: %v", id, pid, err)
	}
}

// Numbers that stand for other processes than a leader reach nobody.
func TestNotALeader(t *testing.T) {
	t.Parallel()
	for _, pid := range []int{-1, 0, 1} {
		if procgroup.Alive(&os.Process{Pid: pid}) {
			t.Errorf("%d would be signalled", pid)
		}
	}
}
