package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
)

// Lead does nothing: there are no groups that can be signalled from outside.
func Lead(*exec.Cmd) {}

// Terminate does nothing: there is no gentle signal.
func Terminate(*os.Process) error { return errors.ErrUnsupported }

// Kill ends p and everything it started; taskkill is part of the system. The error is
// os.ErrProcessDone if p was waited for.
func Kill(p *os.Process) (err error) {
	// While the handle is held, the number is not given to another process.
	held := p.WithHandle(func(uintptr) {
		if err = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run(); err != nil {
			err = p.Kill()
		}
	})
	if held != nil {
		return os.ErrProcessDone
	}
	return err
}

// Alive is false: a process that was waited for leaves no trace here, and numbers are
// reused quickly.
func Alive(*os.Process) bool { return false }
