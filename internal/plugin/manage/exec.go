package manage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
)

// Bounds on what is kept of a program's output.
const (
	maxStdout = 32 << 20
	maxStderr = 16 << 10
)

// program is one run of git or go.
type program struct {
	name  string
	args  []string
	dir   string
	env   []string // Added to the environment of the manager.
	stdin string
	live  bool // Standard error is progress: show it on a terminal.
}

// exitError is a program that failed.
type exitError struct {
	name   string // With its first argument.
	code   int
	stderr string
}

func (e *exitError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("%s ended with code %d", e.name, e.code)
	}
	return e.name + ": " + e.stderr
}

// lookPath finds a program in the PATH of the options.
func (m *Manager) lookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(m.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH: %w", name, exec.ErrNotFound)
}

// run runs a program to its end and returns its standard output. When ctx ends, the
// program and all it started are killed.
func (m *Manager) run(ctx context.Context, p program) ([]byte, error) {
	file, err := m.lookPath(p.name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, file, p.args...)
	cmd.Dir = p.dir
	cmd.Env = append(append(cleanEnv(m.o.Env), "LC_ALL=C"), p.env...)
	if p.stdin != "" {
		cmd.Stdin = strings.NewReader(p.stdin)
	}
	out, tail := &bounded{max: maxStdout}, &bounded{max: maxStderr, last: true}
	cmd.Stdout, cmd.Stderr = out, tail
	if p.live && m.o.Live {
		cmd.Stderr = io.MultiWriter(tail, m.o.Progress)
	}
	procgroup.Lead(cmd)
	cmd.Cancel = func() error { return procgroup.Kill(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second // A grandchild may hold the pipes open.
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		what := p.name
		if len(p.args) > 0 {
			what += " " + p.args[0]
		}
		return out.Bytes(), &exitError{name: what, code: exit.ExitCode(), stderr: lastLines(tail.String())}
	}
	if err == nil && out.cut {
		err = fmt.Errorf("%s: its output is longer than %d bytes", p.name, maxStdout)
	}
	return out.Bytes(), err
}

// cleanEnv drops what would make git work on another repository than it is told, or
// print the headers that it sends.
func cleanEnv(env []string) []string {
	out := make([]string, 0, len(env)+8)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
			"GIT_CONFIG", "GIT_CURL_VERBOSE", "GIT_TRACE_CURL", "GIT_TRACE_REDACT", "GIT_TRACE", "GIT_TRACE_PACKET", "LC_ALL", "LANGUAGE":
			continue
		}
		out = append(out, kv)
	}
	return out
}

// lastLines is the end of what a program said: progress that was overwritten
// and empty lines are left out.
func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n ")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		if line != "" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// bounded keeps the first max bytes of what is written, or the last ones.
type bounded struct {
	bytes.Buffer
	max  int
	last bool
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if b.last {
		if len(p) > b.max {
			p = p[len(p)-b.max:]
		}
		if over := b.Len() + len(p) - b.max; over > 0 {
			b.Next(over)
			b.cut = true
		}
	} else if room := b.max - b.Len(); len(p) > room {
		p, b.cut = p[:room], true
	}
	b.Buffer.Write(p)
	return n, nil
}

// shellQuote quotes a word for the shell that git runs ssh with.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

const windows = runtime.GOOS == "windows"
