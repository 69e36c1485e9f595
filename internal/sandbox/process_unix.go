//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process lead a group of its own, so that all of it can be
// killed.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process and what it started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
