package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idelchi/aura/internal/cli"
)

// TestMain makes this test binary answer to the name aura, so that the scripts
// drive the real program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"aura": func() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script/*.txtar. Besides the usual commands of
// testscript there are:
//
//	script FILE             the model plays FILE (see docs/script-provider.md)
//	serve FORMAT FILE       a model server plays FILE over HTTP in a wire format:
//	                        openai, responses, anthropic, google or ollama; the turns
//	                        are those of mock_test.go, each request is kept as
//	                        requests/N.json (its path and headers as requests/N.head)
//	requests N              there were exactly N chat requests so far
//
// Both make a provider that is used because it is the only one.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("NO_COLOR", "1")
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"script": cmdScript, "serve": cmdServe, "requests": cmdRequests,
		},
	})
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
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve FORMAT FILE")
	}
	dir := ts.MkAbs("requests")
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.MkdirAll(dir, 0o755))
	m, err := startMock(args[0], ts.ReadFile(args[1]), dir)
	ts.Check(err)
	ts.Defer(m.Close)
	ts.Setenv("MOCK_URL", m.URL)
	writeProvider(ts, m.provider())
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
