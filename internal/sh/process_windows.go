package sh

import (
	"os"
	"os/exec"
)

// Windows has no gentle signal: commands are killed at once, and what they started
// themselves lives on, though it cannot delay the script. procgroup.Kill would reach it,
// but runs a program for each command, and here many are killed under a lock, in
// time. A job object would do.
func kill(leader *os.Process)      { _ = leader.Kill() }
func terminate(leader *os.Process) { kill(leader) }

func killedBy(*exec.ExitError) (int, string) { return 0, "" }

func isBusy(error) bool          { return false }
func isNotExecutable(error) bool { return false }
