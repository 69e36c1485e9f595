package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/tool"
)

const bashText = `Run a shell command (bash syntax) and return its output, stdout and stderr together.

- Every call starts anew in the working directory: cd and variables do not last. Use workdir, or chain commands with &&.
- The command is stopped after 15 seconds; give timeout_ms (at most 600000) for builds and tests. Nothing can be typed into it.
- Processes left in the background are stopped when the command ends.
- Of long output the first 100 and the last 80 lines are shown. A non-zero exit code is an error.
- To read, find, search and change files use Read, Glob, Rg, Edit and Patch.`

// maxTimeout is the longest a command may ask for.
const maxTimeout = 10 * time.Minute

// BashLimits bound what one command of Bash may use. Zero fields are defaults.
type BashLimits struct {
	Timeout  time.Duration // When the call does not say; 15 s.
	MaxBytes int           // Of output that is kept, half from each end; 1 MiB.
	MaxLines int           // Beyond this the middle of the output is cut; 200.
	Head     int           // Lines kept from the beginning when it is; 100.
	Tail     int           // Lines kept from the end; 80.
}

func (l BashLimits) withDefaults() BashLimits {
	set := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = 15 * time.Second
	}
	set(&l.MaxBytes, 1<<20)
	set(&l.MaxLines, 200)
	set(&l.Head, 100)
	set(&l.Tail, 80)
	return l
}

func bashTool(limits BashLimits, env func() []string) tool.Tool {
	return tool.Tool{
		Name:        "Bash",
		Description: bashText,
		Examples:    `{"command":"go test ./...","timeout_ms":120000}`,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"command":{"type":"string","minLength":1,"description":"The command."},
"workdir":{"type":"string","description":"Directory to run it in (default: the working directory)."},
"timeout_ms":{"type":"integer","minimum":1,"maximum":600000,"description":"Stop the command after so many milliseconds (default 15000)."}},
"required":["command"],"additionalProperties":false}`),
		Serial:      true,
		SideEffects: []string{"execute"},
		Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			return bash(ctx, call, limits, env())
		},
	}
}

func bash(ctx context.Context, call tool.Call, limits BashLimits, env []string) (tool.Result, error) {
	dir := absolute(call.Workdir, orDot(text(call.Args, "workdir")))
	if info, err := os.Stat(dir); err != nil {
		return tool.Result{}, fmt.Errorf("workdir: %w", explain(call.Workdir, dir, err))
	} else if !info.IsDir() {
		return tool.Result{}, fmt.Errorf("workdir: %s is not a directory", display(call.Workdir, dir))
	}
	timeout := limits.Timeout
	if ms := integer(call.Args, "timeout_ms"); ms > 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	timeout = min(timeout, maxTimeout)
	deadline, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	kept := ends{limit: limits.MaxBytes / 2}
	result, err := sh.Run(deadline, sh.Command{
		Script: text(call.Args, "command"),
		Dir:    dir,
		Env:    env,
		Limit:  -1, // kept keeps both ends; the shell would keep the beginning only.
		Output: func(_ sh.Stream, chunk []byte) {
			kept.add(chunk)
			if call.Output != nil {
				call.Output(string(chunk))
			}
		},
	})
	if err != nil {
		return tool.Result{}, err
	}
	out := kept.text(limits)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, failure(out, "cancelled")
	case result.TimedOut:
		return tool.Result{}, failure(
			out,
			fmt.Sprintf(
				"stopped after %s: give a larger timeout_ms (at most %d) if it needs more time",
				timeout,
				maxTimeout.Milliseconds(),
			),
		)
	case result.Signal != "":
		return tool.Result{}, failure(out, fmt.Sprintf("exit code %d (%s)", result.ExitCode, result.Signal))
	case result.ExitCode != 0:
		return tool.Result{}, failure(out, fmt.Sprintf("exit code %d", result.ExitCode))
	case out == "":
		out = "[no output]"
	}
	return tool.Result{Text: out}, nil
}

// failure is the output with what went wrong after it.
func failure(out, why string) error {
	if out == "" {
		return errors.New(why)
	}
	return errors.New(strings.TrimRight(out, "\n") + "\n" + why)
}

// ends keeps the beginning and the end of a stream in bounded memory.
type ends struct {
	limit      int // Bytes of each end.
	head, tail []byte
	bytes      int
	newlines   int
	open       bool // The last line has no end yet.
}

func (e *ends) add(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	e.open = chunk[len(chunk)-1] != '\n'
	e.bytes += len(chunk)
	e.newlines += bytes.Count(chunk, []byte("\n"))
	if room := e.limit - len(e.head); room > 0 {
		n := min(room, len(chunk))
		e.head = append(e.head, chunk[:n]...)
		chunk = chunk[n:]
	}
	e.tail = append(e.tail, chunk...)
	// Moved only when twice too long, so that many small chunks stay cheap.
	if len(e.tail) > 2*e.limit {
		e.shrink()
	}
}

func (e *ends) shrink() {
	if over := len(e.tail) - e.limit; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
}

// text is the output as the model gets it: whole, or with a line in place of the
// middle that says what is missing. Lines at the edge of a gap may be incomplete.
func (e *ends) text(l BashLimits) string {
	e.shrink()
	valid := func(b []byte) []string { return splitLines(strings.ToValidUTF8(string(b), "\ufffd")) }
	cut := e.bytes - len(e.head) - len(e.tail)
	var head, tail []string
	if cut == 0 {
		all := valid(slices.Concat(e.head, e.tail))
		if len(all) <= max(l.MaxLines, l.Head+l.Tail) {
			return strings.Join(all, "\n")
		}
		head, tail = all[:l.Head], all[len(all)-l.Tail:]
	} else {
		head, tail = valid(e.head), valid(e.tail)
		if len(head)+len(tail) > l.MaxLines {
			head, tail = head[:min(l.Head, len(head))], tail[max(0, len(tail)-l.Tail):]
		}
	}
	total := e.newlines
	if e.open {
		total++
	}
	gap := fmt.Sprintf("[... %d lines cut ...]", total-len(head)-len(tail))
	if cut > 0 {
		gap = fmt.Sprintf(
			"[... %d lines cut; the whole output was %s ...]",
			max(0, total-len(head)-len(tail)),
			bytesText(int64(e.bytes)),
		)
	}
	return strings.Join(head, "\n") + "\n" + gap + "\n" + strings.Join(tail, "\n")
}
