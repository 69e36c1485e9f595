package procgroup_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
)

// role makes the test's own program a member of a group.
const role = "GROUP_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "leader":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=stubborn")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		if child.Start() != nil {
			os.Exit(1)
		}
		stay()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		stay()
	case "brief":
	default:
		os.Exit(m.Run())
	}
}

// stay says that the process is there, and keeps it until its input ends, which it
// does at the latest with the test.
func stay() {
	_, _ = os.Stdout.WriteString("here\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// family starts a leader and returns it when it and its child, which ignores
// SIGTERM, are there. Both hold the other end of the pipe, so that its end is theirs.
func family(t *testing.T) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	in, keep := pipe(t)
	out, theirs := pipe(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=leader")
	cmd.Stdin, cmd.Stdout = in, theirs
	procgroup.Lead(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = keep.Close()
		_ = cmd.Wait() // Most tests have.
	})
	_ = in.Close()
	_ = theirs.Close()
	_ = out.SetReadDeadline(time.Now().Add(30 * time.Second)) // A broken test ends.
	lines := bufio.NewReader(out)
	for range 2 {
		if line, err := lines.ReadString('\n'); line != "here\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	return cmd, lines
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// gone waits for the end of all who hold the pipe.
func gone(t *testing.T, lines *bufio.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// Nobody survives, and the killed leader can be waited for.
func TestKill(t *testing.T) {
	t.Parallel()
	cmd, lines := family(t)
	if err := procgroup.Kill(cmd.Process); err != nil {
		t.Error(err)
	}
	gone(t, lines)
	if _, killed := errors.AsType[*exec.ExitError](cmd.Wait()); !killed {
		t.Errorf("%v", cmd.ProcessState)
	}
}

// Nobody is there after a process that left nobody was waited for.
func TestNobody(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=brief")
	procgroup.Lead(cmd)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := procgroup.Kill(cmd.Process); !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	if procgroup.Alive(cmd.Process) {
		t.Error("it is alive")
	}
}
