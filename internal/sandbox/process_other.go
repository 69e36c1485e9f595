//go:build !unix

package sandbox

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the process; there are no groups here.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
