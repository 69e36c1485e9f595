package sh

import (
	"os"
	"os/exec"
)

// Windows has no process groups that can be signalled from outside, and no
// gentle signal: commands are killed at once, and what they started themselves
// lives on, though it cannot delay the script. A job object would reach it.
type signal int

const (
	sigTerm signal = 1
	sigKill signal = 2
)

func ownGroup(*exec.Cmd) {}

func signalGroup(pid int, _ signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// groupAlive is false: a process that was waited for leaves no trace here, and
// numbers are reused quickly.
func groupAlive(int) bool { return false }

func killedBy(*exec.ExitError) (int, string) { return 0, "" }

func isBusy(error) bool          { return false }
func isNotExecutable(error) bool { return false }
