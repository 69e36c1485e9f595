//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the server the leader of a session of its own: everything it
// starts can be ended with it, Ctrl+C does not reach it, and it cannot read from
// the terminal.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
