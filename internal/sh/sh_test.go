//go:build unix

package sh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/procgroup"
)

func run(t *testing.T, c Command) Result {
	t.Helper()
	res, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.sh") // Executable, but without a "#!" line.
	if err := os.WriteFile(plain, []byte("echo plain $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		script string
		stdout string
		stderr string
		code   int
		signal string
	}{
		{"builtins", "x=1; echo a$x; echo b >&2; exit 3", "a1\n", "b\n", 3, ""},
		{"nothing", "", "", "", 0, ""},
		{"external", "cat data; sh -c 'exit 7'", "x", "", 7, ""},
		{"pipe", "printf 'b\\na\\n' | sort | tr a-z A-Z", "A\nB\n", "", 0, ""},
		{
			"dir",
			"basename \"$PWD\"; sh -c 'basename \"$PWD\"'",
			filepath.Base(dir) + "\n" + filepath.Base(dir) + "\n",
			"",
			0,
			"",
		},
		{"binary", `printf '\000\377\n' | cat`, "\x00\xff\n", "", 0, ""},
		{"not found", "no-such-command-here x", "", "no-such-command-here: command not found\n", 127, ""},
		{"no such path", "./none", "", "./none: no such file or directory\n", 127, ""},
		{"not executable", "./data", "", "./data: permission denied\n", 126, ""},
		{"goes on", "no-such-command-here; echo $?", "127\n", "no-such-command-here: command not found\n", 0, ""},
		{"no shebang", "./plain.sh arg", "plain arg\n", "", 0, ""},
		{"killed", "sh -c 'kill -9 $$'", "", "", 137, "killed"},
		{"terminated", "sh -c 'kill -15 $$'", "", "", 143, "terminated"},
		{"killed and handled", "sh -c 'kill -9 $$' || echo $?", "137\n", "", 0, ""},
		{"kill builtin", "kill -0 1 2>/dev/null; kill -l TERM", "15\n", "", 0, ""},
		{"kill itself", "kill $$; echo no", "", "", 143, ""},
		{"kill a job", "sleep 100 & p=$!; kill -0 $p && kill $p; wait $p; echo $?", "143\n", "", 0, ""},
		{
			"kill the right job",
			"(echo a; exec cat) <data & wait; sleep 100 & kill -9 $!; wait $!; echo $?; sh -c 'exit 4' & wait $!",
			"a\nx137\n",
			"",
			4,
			"",
		},
		{
			"kill one of two",
			"sleep 100 & a=$!; sh -c 'until [ -e go ]; do :; done; echo b' & b=$!; kill $a; wait $a; touch go; " +
				"wait $b; echo $?; kill $a || echo gone",
			"b\n0\ngone\n",
			"kill: (g1) - no such process\n",
			0,
			"",
		},
		{
			"kill in a function",
			"f() { if true; then sleep 100 & p=$!; fi; kill $p; }; f; for i in 1 2; do sleep 100 & kill $!; " +
				"done; echo end",
			"end\n",
			"",
			0,
			"",
		},
		{"kill no job", "kill g7", "", "kill: (g7) - no such process\n", 1, ""},
		{"jobs do not see their mark", "printenv __job & wait; kill -l TERM", "15\n", "", 0, ""},
		{"no stdin", "read x; cat; echo end", "end\n", "", 0, ""},
		{"wait", "sh -c 'echo a' & wait; echo b", "a\nb\n", "", 0, ""},
		{"unset", "unset HIDDEN; sh -c 'echo \"[$HIDDEN]\"'", "[]\n", "", 0, ""},
		{"local", "NEW=1; export OUT=2; sh -c 'echo \"[$NEW$OUT$HIDDEN]\"'", "[2h]\n", "", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := append(os.Environ(), "HIDDEN=x", "HIDDEN=h", "malformed")
			res := run(t, Command{Script: tt.script, Dir: dir, Env: env})
			if string(res.Stdout) != tt.stdout || string(res.Stderr) != tt.stderr || res.ExitCode != tt.code ||
				res.Signal != tt.signal {
				t.Errorf("stdout %q, stderr %q, exit %d, signal %q", res.Stdout, res.Stderr, res.ExitCode, res.Signal)
			}
			if res.NotFound != (tt.code == 127) || res.TimedOut || res.Cancelled {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SH_TEST", "inherited")
	if res := run(
		t,
		Command{Script: "echo $SH_TEST; printenv SH_TEST"},
	); string(
		res.Stdout,
	) != "inherited\ninherited\n" {
		t.Errorf("nil environment: %q", res.Stdout)
	}
	res := run(t, Command{Script: "echo [$SH_TEST]", Env: []string{}})
	if string(res.Stdout) != "[]\n" {
		t.Errorf("empty environment: %q", res.Stdout)
	}
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("(", 300_000)
	for _, tt := range []struct{ script, want string }{
		{"echo 'open", "script: 1:6: reached EOF without closing quote"},
		{"if true; fi", "script: "},
		{deep, "too complex"},
		{strings.Repeat(" ", 600<<10), "too long"},
		{"eval '" + strings.Repeat("x ", 9000) + "' $(:)", ""},
		{"coproc cat; echo on", "script: 1:1: coproc is not supported here"},
		{"echo $(true && coproc cat)", "coproc is not supported here"},
		{"echo coproc", ""},
	} {
		err := Parse(tt.script)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%.20q) = %v", tt.script, err)
		}
		if tt.want == "" {
			continue
		}
		if _, err := Run(
			t.Context(),
			Command{Script: tt.script},
		); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("Run(%.20q) = %v", tt.script, err)
		}
	}
	// What is seen only when it runs ends the script, too.
	file := filepath.Join(t.TempDir(), "inner.sh")
	if err := os.WriteFile(file, []byte("coproc cat\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"eval 'coproc cat'; echo on", "source " + file + "; echo on"} {
		if res, err := Run(
			t.Context(),
			Command{Script: script},
		); err == nil || !strings.Contains(err.Error(), "coproc is not supported here") ||
			len(res.Stdout) > 0 {
			t.Errorf("Run(%q) = %q, %v", script, res.Stdout, err)
		}
	}
	if _, err := Run(
		t.Context(),
		Command{Script: ":", Dir: filepath.Join(t.TempDir(), "none")},
	); err == nil ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("missing directory: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := Run(
		ctx,
		Command{Script: "touch x", Dir: t.TempDir()},
	); err != nil || !res.Cancelled ||
		res.ExitCode != 130 {
		t.Errorf("cancelled before: %+v, %v", res, err)
	}
}

// Scripts that would overflow the stack or multiply without end are stopped
// before they can take the program down.
func TestRunaway(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "deep"), bytes.Repeat([]byte("("), 300_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "self"), []byte(". ./self\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"f() { f; }; f",
		". ./self",
		". ./deep",
		`x=$(printf '%50000s' ''); x=${x// /(((((}; eval "$x"`,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		res, err := Run(ctx, Command{Script: script, Dir: dir})
		cancel()
		if err == nil || !strings.Contains(err.Error(), "too") {
			t.Errorf("%s: %v %+v", script, err, res)
		}
	}
}

func TestLimitAndCombined(t *testing.T) {
	var live bytes.Buffer
	res := run(t, Command{
		Script: "echo one; echo two >&2; sh -c 'echo three; echo four >&2' 2>&1; echo 12345678901234567890",
		Limit:  20,
		Output: func(_ Stream, chunk []byte) { live.Write(chunk) },
	})
	if got := string(res.Combined); got != "one\ntwo\nthree\nfour\n12345" {
		t.Errorf("combined %q", got)
	}
	if string(res.Stdout) != "one\nthree\nfour\n12345" || string(res.Stderr) != "two\n" || res.DroppedStdout != 16 ||
		res.DroppedStderr != 0 {
		t.Errorf("%q %q %d %d", res.Stdout, res.Stderr, res.DroppedStdout, res.DroppedStderr)
	}
	if got := live.String(); got != "one\ntwo\nthree\nfour\n12345678901234567890\n" {
		t.Errorf("live %q", got)
	}
	if res := run(t, Command{Script: "echo x", Limit: -1}); len(res.Stdout) > 0 || res.DroppedStdout != 2 {
		t.Errorf("negative limit: %+v", res)
	}
}

// A flood is counted, not kept, and both streams may be written at once.
func TestFlood(t *testing.T) {
	res := run(t, Command{
		Script: "for i in 1 2 3 4; do head -c 3000000 /dev/zero & head -c 3000000 /dev/zero >&2 & done; wait",
		Limit:  1000,
	})
	if len(res.Stdout) != 1000 || len(res.Stderr) != 1000 || res.DroppedStdout != 12_000_000-1000 ||
		res.DroppedStderr != 12_000_000-1000 {
		t.Errorf("%d %d %d %d", len(res.Stdout), len(res.Stderr), res.DroppedStdout, res.DroppedStderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen int
	res, err := Run(ctx, Command{Script: "yes", Output: func(_ Stream, chunk []byte) {
		if seen += len(chunk); seen > 5<<20 {
			cancel()
		}
	}})
	if err != nil || !res.Cancelled || len(res.Stdout) != DefaultLimit || res.DroppedStdout == 0 {
		t.Errorf("yes: %v, kept %d, dropped %d, cancelled %t", err, len(res.Stdout), res.DroppedStdout, res.Cancelled)
	}
}

// unsized is a reader that does not say its length.
type unsized struct{ io.Reader }

func TestStdin(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, in := range []struct {
		size   string
		reader func() io.Reader
	}{
		{"1048576", func() io.Reader { return bytes.NewReader(big) }},
		{"1048576", func() io.Reader { return unsized{bytes.NewReader(big)} }},
		{"5", func() io.Reader { return strings.NewReader("small") }},
		{"0", func() io.Reader { return nil }},
	} {
		for script, want := range map[string]string{
			"true": "", ":": "", "sh -c 'exit 0'": "", "echo $(($(wc -c)))": in.size + "\n",
		} {
			res := run(t, Command{Script: script, Stdin: in.reader()})
			if res.ExitCode != 0 || string(res.Stdout) != want {
				t.Errorf("%s bytes: %s: %+v", in.size, script, res)
			}
		}
	}
	res := run(
		t,
		Command{
			Script: "read a; echo $a; cat",
			Limit:  2 << 20,
			Stdin:  bytes.NewReader(append([]byte("first\n"), big...)),
		},
	)
	if len(res.Stdout) != len("first\n")+len(big) {
		t.Errorf("read %d bytes", len(res.Stdout))
	}
}

// alive reports whether the process exists and is not a zombie.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z")
	}
	p, err := os.FindProcess(pid)
	return err == nil && procgroup.Alive(p)
}

// gone waits until the processes named in files of dir no longer exist.
func gone(t *testing.T, dir string, want int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.pid"))
	if len(files) != want {
		t.Fatalf("%d processes were started, want %d", len(files), want)
	}
	for _, f := range files {
		data, _ := os.ReadFile(f)
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); alive(pid); {
			if time.Now().After(end) {
				t.Fatalf("process %d of %s still runs", pid, filepath.Base(f))
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// survivors start children that write their number into a file and then wait
// for good; "ready" is printed once they all have.
var survivors = []struct {
	name, script string
	children     int
	ends         bool // The script itself comes to its end.
}{
	{"foreground", "sh -c 'echo $$ >a.pid; echo ready; exec sleep 1000'", 1, false},
	{"ignores TERM", "sh -c 'trap \"\" TERM; echo $$ >a.pid; echo ready; while :; do sleep 1000; done'", 1, false},
	{"grandchild", "sh -c 'sh -c \"echo \\$\\$ >a.pid; echo ready; exec sleep 1000\"; true'", 1, false},
	{
		"pipeline",
		"sh -c 'echo $$ >a.pid; exec sleep 1000' | sh -c 'echo $$ >b.pid; until [ -s a.pid ]; do :; done; echo " +
			"ready; exec sleep 1000'",
		2,
		false,
	},
	{"loop", "sh -c 'echo $$ >a.pid'; echo ready; while :; do :; done", 1, false},
	{"background", "sh -c 'echo $$ >a.pid; exec sleep 1000' & until [ -s a.pid ]; do :; done; echo ready", 1, true},
	{
		"background ignores TERM",
		"sh -c 'trap \"\" TERM; echo $$ >a.pid; while :; do sleep 1000; done' & until [ -s a.pid ]; do :; done; " +
			"echo ready",
		1,
		true,
	},
	{"orphan", "sh -c 'sleep 1000 & echo $! >a.pid'; echo ready", 1, true},
	{"orphan without output", "sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >a.pid'; echo ready", 1, true},
}

// Nothing outlives its script, whether that ends or is cancelled, and nothing
// that keeps the output open holds it up.
func TestNoSurvivors(t *testing.T) {
	for _, tt := range survivors {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			var out bytes.Buffer
			res, err := Run(
				ctx,
				Command{
					Script: tt.script,
					Dir:    dir,
					Grace:  50 * time.Millisecond,
					Output: func(_ Stream, chunk []byte) {
						if out.Write(chunk); !tt.ends && strings.Contains(out.String(), "ready") {
							cancel()
						}
					},
				},
			)
			if err != nil || !strings.Contains(string(res.Stdout), "ready") || res.Cancelled == tt.ends ||
				res.TimedOut ||
				tt.ends && res.ExitCode != 0 {
				t.Errorf("%+v, %v, %s", res, err, res.Combined)
			}
			gone(t, dir, tt.children)
		})
	}
}

// A process that left its group, as a daemon does, lives on but holds nothing up.
func TestDaemon(t *testing.T) {
	if runtime.GOOS != "linux" { // Elsewhere there is no setsid program.
		return
	}
	dir := t.TempDir()
	res := run(
		t,
		Command{
			Script: "setsid -f sh -c 'echo $$ >a.pid; exec sleep 1000'; until [ -s a.pid ]; do :; done; echo on",
			Dir:    dir,
		},
	)
	if string(res.Stdout) != "on\n" {
		t.Errorf("%+v", res)
	}
	data, _ := os.ReadFile(filepath.Join(dir, "a.pid"))
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || !alive(pid) {
		t.Errorf("the daemon %q is gone", data)
	}
	if p, err := os.FindProcess(pid); err == nil {
		kill(p)
	}
	gone(t, dir, 1)
}

// CN-28: a deadline ends whatever the script is doing.
func TestDeadline(t *testing.T) {
	dir := t.TempDir()
	for _, script := range []string{
		"sleep 200", "while :; do :; done", "sleep 200 | cat", "sleep 200 & wait", "echo $(sleep 200)",
		"trap 'exit 0' TERM; sleep 200",
		"mkfifo fifo; echo x >fifo", "sh -c 'trap \"exit 0\" TERM; sleep 200 & wait'", "(while :; do true; " +
			"done) | while :; do true; done",
		"f() { f | f; }; f", "read x",
	} {
		t.Run(script, func(t *testing.T) {
			if !strings.Contains(script, "f | f") { // It may use up what the others need.
				t.Parallel()
			}
			r, w, err := os.Pipe() // A standard input on which nothing ever comes.
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			res, err := Run(ctx, Command{Script: script, Dir: dir, Stdin: r, Grace: 20 * time.Millisecond})
			if err != nil && !errors.Is(err, errTooMany) && !errors.Is(err, errTooDeep) {
				t.Fatal(err)
			}
			if err == nil && (!res.TimedOut || res.ExitCode != 124 || res.Cancelled) {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Without a terminal, a program that wants to ask a question fails at once.
func TestNoTerminal(t *testing.T) {
	res := run(t, Command{Script: "sh -c ': </dev/tty'"})
	if res.ExitCode == 0 {
		t.Error("a command has a terminal")
	}
}

func TestConcurrentRuns(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			text := strconv.Itoa(i)
			res, err := Run(t.Context(), Command{Script: "echo " + text + "; echo " + text + " | cat >&2"})
			if err != nil || string(res.Stdout) != text+"\n" || string(res.Stderr) != text+"\n" {
				t.Errorf("%d: %+v %v", i, res, err)
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"echo a | b && c", "f() { f; }; f", "cat <<E\n$(x)\nE", "x=${y:-\"z\"}", "((a+b))", "case x in *) ;; esac",
		"\x00", "`",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := Parse(
			s,
		); err != nil &&
			(strings.Contains(err.Error(), "panicked") || len(err.Error()) > 1000+len(s)) {
			t.Fatal(err)
		}
	})
}

func BenchmarkBuiltins(b *testing.B) {
	for b.Loop() {
		if _, err := Run(b.Context(), Command{Script: "if [ -n \"$HOME\" ]; then echo ok; fi"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStdin(b *testing.B) {
	in := []byte(`{"tool":{"name":"Write"}}`)
	for b.Loop() {
		if _, err := Run(b.Context(), Command{Script: "read x; echo $x", Stdin: bytes.NewReader(in)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExternal(b *testing.B) {
	for b.Loop() {
		if _, err := Run(b.Context(), Command{Script: "/bin/true"}); err != nil {
			b.Fatal(err)
		}
	}
}
