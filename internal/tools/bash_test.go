package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/tool"
)

// HO-38: Bash takes a command.
func TestBash(t *testing.T) {
	dir := tree(t, map[string]string{"sub/f": "x", "file": ""})
	tests := []struct {
		name string
		args args
		want string
	}{
		{"output", args{"command": "echo hi"}, "hi"},
		{"both streams", args{"command": "echo out; echo err >&2"}, "out\nerr"},
		{"nothing", args{"command": "true"}, "[no output]"},
		{"workdir", args{"command": "ls", "workdir": "sub"}, "f"},
		{"absolute workdir", args{"command": "ls", "workdir": filepath.Join(dir, "sub")}, "f"},
		{"stdin is empty", args{"command": "cat; echo end"}, "end"},
		{"pipe", args{"command": "printf 'b\\na\\n' | sort"}, "a\nb"},
		{"not UTF-8", args{"command": `printf 'a\377b'`}, "a\ufffdb"},
		{"environment", args{"command": "echo $GREETING"}, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bash := named(t, "Bash", Options{Env: func() []string { return append(os.Environ(), "GREETING=hello") }})
			r, err := useWith(t, bash, tool.Call{Workdir: dir, Args: tt.args})
			must(t, err)
			equal(t, r.Text, tt.want)
		})
	}
	errors := []struct {
		name string
		args args
		want string
	}{
		{"exit code", args{"command": "echo before; exit 3"}, "before\nexit code 3"},
		{"no output", args{"command": "false"}, "exit code 1"},
		{"not found", args{"command": "no-such-command-here"}, "exit code 127"},
		{"syntax", args{"command": "if true"}, "if"},
		{
			"timeout",
			args{"command": "echo begun; sleep 60", "timeout_ms": 50.0},
			"begun\nstopped after 50ms: give a larger timeout_ms (at most 600000)",
		},
		{"too long a timeout", args{"command": "true", "timeout_ms": 600001.0}, "more than the maximum"},
		{"workdir", args{"command": "true", "workdir": "nope"}, "workdir: nope does not exist"},
		{"workdir is a file", args{"command": "true", "workdir": "file"}, "workdir: file is not a directory"},
		{"empty", args{"command": ""}, "must not be empty"},
	}
	for _, tt := range errors {
		t.Run(tt.name, func(t *testing.T) { bad(t, "Bash", dir, tt.args, tt.want) })
	}
}

func TestBashTimeoutOption(t *testing.T) {
	bash := named(t, "Bash", Options{Bash: BashLimits{Timeout: 30 * time.Millisecond}})
	if _, err := useWith(
		t,
		bash,
		tool.Call{Workdir: t.TempDir(), Args: args{"command": "sleep 60"}},
	); err == nil ||
		!strings.Contains(err.Error(), "stopped after 30ms") {
		t.Errorf("error %v", err)
	}
}

func TestBashCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// Cancelled by its own first output, so that it has begun for certain.
	_, err := named(t, "Bash", Options{}).Execute(ctx, tool.Call{
		Workdir: t.TempDir(), Args: args{"command": "echo begun; sleep 60"}, Output: func(string) { cancel() },
	})
	if err == nil || !strings.Contains(err.Error(), "begun\ncancelled") {
		t.Errorf("error %v", err)
	}
}

func TestBashOutput(t *testing.T) {
	var live strings.Builder
	bash := named(t, "Bash", Options{})
	r, err := useWith(
		t,
		bash,
		tool.Call{
			Workdir: t.TempDir(),
			Args:    args{"command": "for i in $(seq 1 300); do echo line $i; done"},
			Output:  func(s string) { live.WriteString(s) },
		},
	)
	must(t, err)
	lines := strings.Split(r.Text, "\n")
	if len(lines) != 181 || lines[99] != "line 100" || lines[100] != "[... 120 lines cut ...]" ||
		lines[101] != "line 221" ||
		lines[180] != "line 300" {
		t.Errorf("%d lines, around the cut %q", len(lines), lines[min(98, len(lines)):min(103, len(lines))])
	}
	if n := strings.Count(live.String(), "\n"); n != 300 {
		t.Errorf("%d lines of live output", n)
	}
	r, err = useWith(t, bash, tool.Call{Workdir: t.TempDir(), Args: args{"command": "seq 1 200"}})
	must(t, err)
	if n := strings.Count(r.Text, "\n") + 1; n != 200 {
		t.Errorf("200 lines became %d", n)
	}
	_, err = useWith(t, bash, tool.Call{Workdir: t.TempDir(), Args: args{"command": "seq 1 1000; exit 2"}})
	contains(t, fmt.Sprint(err), "[... 820 lines cut ...]", "1000\nexit code 2")
}

func TestEnds(t *testing.T) {
	limits := BashLimits{MaxBytes: 40, MaxLines: 1000}.withDefaults()
	collect := func(text string, chunk int) string {
		e := ends{limit: limits.MaxBytes / 2}
		for len(text) > 0 {
			n := min(chunk, len(text))
			e.add([]byte(text[:n]))
			text = text[n:]
		}
		return e.text(limits)
	}
	long := strings.Repeat("0123456789\n", 100)
	for _, chunk := range []int{1, 7, 1000, 5000} {
		equal(t, collect("a\nb\n", chunk), "a\nb")
		equal(t, collect(strings.Repeat("x", 40), chunk), strings.Repeat("x", 40))
		equal(
			t,
			collect(long, chunk),
			"0123456789\n012345678\n[... 96 lines cut; the whole output was 1.1 KB ...]\n23456789\n0123456789",
		)
	}
	// Many lines and many bytes: what the line limit cuts is counted too.
	few := BashLimits{MaxBytes: 40, MaxLines: 4, Head: 1, Tail: 1}
	e := ends{limit: 20}
	for i := range 100 {
		e.add(fmt.Appendf(nil, "line %d\n", i))
	}
	contains(t, e.text(few), "line 0\n[... 98 lines cut; ", "...]\nline 99")
}
