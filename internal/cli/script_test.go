package cli_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar. Besides the usual commands of
// testscript there are:
//
//	script FILE             the model plays FILE (see docs/script-provider.md)
//	serve FORMAT FILE [KEY=VALUE...]
//	                        a model server plays FILE over HTTP in a wire format:
//	                        openai, responses, anthropic, google or ollama; the turns
//	                        are those of mock_test.go, each request is kept as
//	                        requests/N.json (its path and headers as requests/N.head);
//	                        fault=NAME damages the first turn, every other pair is a
//	                        setting of the provider
//	requests N              there were exactly N chat requests so far
//	valid N                 request N is one that a strict server takes
//	kept                    print the session files of the project
//	code N COMMAND...       run a command, which must end with exit code N
//	await FILE              wait until another process has written FILE
//	plugin NAME...          install a plugin of this repository (.aura/plugins,
//	                        examples/plugins) in the project, or all of a directory;
//	                        seed/NAME is one that the plugin guide prints
//	snippets PAGE           write the code blocks of a page of this repository to the
//	                        files that the lines before them name
//	sink FILE [STATUS]      an HTTP server at $SINK_URL keeps the last request in FILE
//
// $EXAMPLES is the directory of the examples, $BIN that of the program.
//
// script and serve make a provider that is used because it is the only one.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params(t, "testdata/script", ""))
}

// TestWire runs testdata/wire/*.txtar once for each wire format, which is in
// $FORMAT; [openai] and the like bind a line to one of them.
func TestWire(t *testing.T) {
	t.Parallel()
	for _, format := range slices.Sorted(maps.Keys(wireFormats)) {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, params(t, "testdata/wire", format))
		})
	}
}

func params(t *testing.T, dir, format string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		WorkdirRoot:         workdirRoot(t),
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("FORMAT", format)
			// With the race detector each program would wait a second before it ends.
			e.Setenv("GORACE", "atexit_sleep_ms=10")
			examples, err := filepath.Abs("../../examples")
			if err != nil {
				return err
			}
			e.Setenv("EXAMPLES", examples)
			// testscript puts the directory of the program before the others.
			bin, _, _ := strings.Cut(e.Getenv("PATH"), string(filepath.ListSeparator))
			e.Setenv("BIN", bin)
			if err := fillPythonCache(e.WorkDir, home); err != nil {
				return err
			}
			return goEnvironment(e, home)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "local-ollama" {
				conn, err := net.Dial("tcp", "127.0.0.1:11434")
				if err == nil {
					conn.Close()
				}
				return err == nil, nil
			}
			if _, ok := wireFormats[cond]; !ok {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return cond == format, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"script":   cmdScript,
			"serve":    cmdServe,
			"requests": cmdRequests,
			"valid":    cmdValid,
			"kept":     cmdKept,
			"code":     cmdCode,
			"await":    cmdAwait,
			"plugin":   cmdPlugin,
			"sink":     cmdSink,
			"snippets": cmdSnippets,
		},
	}
}

// workdirRoot is a directory for the work directories of scripts, which are removed all at
// once: file systems are slow to make files while others are removed. With -testwork it is
// the default, which stays.
func workdirRoot(t *testing.T) string {
	if keep := flag.Lookup("testwork"); keep != nil && keep.Value.String() == "true" {
		return ""
	}
	dir, err := os.MkdirTemp("", "aura-scripts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if os.RemoveAll(dir) == nil {
			return
		}
		// Something in it is read-only.
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(dir)
	})
	return dir
}

// cmdScript makes a script file the model of the project.
func cmdScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: script FILE")
	}
	writeProvider(ts, fmt.Sprintf("script: {type: script, script: %q}\n", ts.MkAbs(args[0])))
}

// cmdServe starts a model server and makes it the provider of the project.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve FORMAT FILE [KEY=VALUE...]")
	}
	settings := map[string]string{"token": "sk-secret-token", "timeout": "10s", "retry": "{max_attempts: 0}"}
	for _, pair := range args[2:] {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			ts.Fatalf("serve: %q is not KEY=VALUE", pair)
		}
		settings[key] = value
	}
	dir := ts.MkAbs("requests")
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.MkdirAll(dir, 0o755))
	m, err := startMock(args[0], ts.ReadFile(args[1]), dir)
	ts.Check(err)
	ts.Defer(m.Close)
	if fault, ok := settings["fault"]; ok {
		m.turns[0].Fault = fault
		delete(settings, "fault")
	}
	ts.Setenv("MOCK_URL", m.URL)
	ts.Setenv("MOCK_FORMAT", args[0])
	writeProvider(ts, m.provider(settings))
}

func writeProvider(ts *testscript.TestScript, text string) {
	file := ts.MkAbs(".aura/config/providers/test.yaml")
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, []byte(text), 0o644))
}

// cmdRequests counts the chat requests that the server got.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: requests N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	files, err := filepath.Glob(filepath.Join(ts.MkAbs("requests"), "*.json"))
	ts.Check(err)
	if (len(files) == want) == neg {
		ts.Fatalf("%d requests: %s", len(files), strings.Join(files, " "))
	}
}

// cmdValid checks a request as a strict server does.
func cmdValid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: valid N")
	}
	problems := checkRequest(ts.Getenv("MOCK_FORMAT"), []byte(ts.ReadFile("requests/"+args[0]+".json")))
	if len(problems) > 0 {
		ts.Fatalf("request %s: %s", args[0], strings.Join(problems, "\n"))
	}
}

// cmdKept prints the sessions of the project.
func cmdKept(ts *testscript.TestScript, neg bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(".aura/sessions"), "*.jsonl"))
	ts.Check(err)
	for _, file := range files {
		fmt.Fprint(ts.Stdout(), ts.ReadFile(file))
	}
}

// cmdCode runs a command for its exit code.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdAwait waits for a file.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	file := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never came", args[0])
		}
	}
}

// cmdPlugin copies plugins of the repository into the project.
func cmdPlugin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: plugin NAME...")
	}
	for _, name := range args {
		var found []string
		for _, pattern := range []string{
			"../../.aura/plugins/%s",
			"../../.aura/plugins/*/%s",
			"../../examples/plugins/%s",
			"../plugin/testdata/%s",
		} {
			list, err := filepath.Glob(fmt.Sprintf(pattern, name))
			ts.Check(err)
			found = append(found, list...)
		}
		if len(found) != 1 {
			ts.Fatalf("%d plugins are called %s: %s", len(found), name, strings.Join(found, " "))
		}
		ts.Check(os.CopyFS(ts.MkAbs(filepath.Join(".aura/plugins", name)), os.DirFS(found[0])))
	}
}

// cmdSink starts a server that keeps what it is sent.
func cmdSink(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: sink FILE [STATUS]")
	}
	file, status := ts.MkAbs(args[0]), http.StatusOK
	if len(args) == 2 {
		var err error
		status, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		fmt.Fprintln(&text, r.Method, r.URL)
		_ = r.Header.Write(&text)
		_, _ = io.Copy(&text, r.Body)
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			status = http.StatusInternalServerError
		}
		w.WriteHeader(status)
		fmt.Fprintln(w, "status", status)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SINK_URL", server.URL)
}
