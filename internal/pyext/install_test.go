package pyext

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/sdk"
)

// A package like the guide's is built with the guide's own pyproject.toml, installed
// into a virtual environment, found and run. Its dependency aar comes from here.
// AX-66 AX-75 AX-76 AX-80 AX-81
func TestRealInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("building a package takes ten seconds")
	}
	t.Parallel()
	dir := tree(t, files{
		"pkg/pyproject.toml": seed(t, "pyproject.toml"),
		"pkg/README.md":      "x",
		"pkg/aar_ext_my_extension/__init__.py": "from .helper import text\n" +
			"from agent.extensions.api import ExtensionAPI\n\ndef register(api: ExtensionAPI):\n" +
			"    api.command('mine')(lambda args, ctx: text(args))\n",
		"pkg/aar_ext_my_extension/helper.py": "def text(a): return 'mine: ' + a\n",
	})
	var heard bytes.Buffer
	in := &Installer{
		Interpreter: interpreter(t),
		Cache:       testCache,
		Workdir:     dir,
		Env:         os.Environ(),
		Out:         &heard,
		Err:         &heard,
	}
	venv := filepath.Join(dir, ".venv")
	if err := in.MakeVenv(t.Context(), venv); err != nil {
		t.Fatalf("%v\n%s", err, &heard)
	}
	got, err := in.Install(t.Context(), []string{"./pkg/"})
	if err != nil {
		for _, offline := range []string{"No matching distribution found for hatchling", "Failed to establish a new connection", "Temporary failure in name resolution"} {
			if strings.Contains(heard.String(), offline) {
				t.Skip("no package index is reachable: " + offline)
			}
		}
		t.Fatalf("%v\n%s", err, &heard)
	}
	if len(got.Extensions) != 1 || got.Extensions[0].Name != "my_extension" || len(got.Plain) != 0 ||
		len(got.Packages) != 1 {
		t.Errorf("%+v\n%s", got, &heard)
	}
	// Discovery finds the environment, and the extension in it.
	env, err := FindInterpreter(dir, "", func(string) string { return "" })
	if err != nil || env.Venv != venv {
		t.Fatalf("%+v, %v", env, err)
	}
	w := load(t, Discover(Dirs{}, env.Installed(testCache)), func(o *Options) { o.Interpreter = env })
	if got, err := w.command(t.Context(), t, "mine", "x", sdk.Context{}); got != "mine: x" || err != nil {
		t.Errorf("%q, %v: %s", got, err, w.said())
	}
	// One that is no extension is told from it.
	if got := in.verify([]string{"pip"}); len(got.Extensions) != 0 || len(got.Plain) != 1 {
		t.Errorf("%+v", got)
	}
}

// pythons are the interpreters of every supported version that are installed here.
func pythons(t testing.TB) (found []string) {
	t.Helper()
	root := os.Getenv("PYENV_ROOT")
	if root == "" {
		home, _ := os.UserHomeDir()
		root = filepath.Join(home, ".pyenv")
	}
	for _, minor := range []string{"11", "12", "13", "14"} {
		pyenv, _ := filepath.Glob(filepath.Join(root, "versions", "3."+minor+".*", "bin", "python3"))
		found = append(found, pyenv...)
		if path, err := lookPath("python3."+minor, "", os.Getenv); err == nil && !isScript(path) {
			found = append(found, path)
		}
	}
	return found
}

// with runs extensions in an interpreter.
func with(t testing.TB, path string) func(*Options) {
	return func(o *Options) { o.Interpreter = Interpreter{Path: path, getenv: os.Getenv, dir: t.TempDir()} }
}

// The guide's files run on every supported Python that is installed here.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, path := range pythons(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := start(t, files{
				"anatomy": seed(
					t,
					"anatomy.py",
				),
				"word_count": seed(t, "word_count.py"),
				"companion":  seed(t, "companion.py"),
				"recorder":   recorder,
				"slow": "import asyncio\ndef register(api):\n    @api.on('tool_call')\n" +
					"    async def f(event, ctx):\n" +
					"        async with asyncio.timeout(5): await asyncio.sleep(0)\n" +
					"        return Result(message='waited')\n",
			}, with(t, path))
			w.moment(t, &sdk.SessionStartContext{})
			if out := w.moment(t, bash("ls")); len(out.Said) != 1 || len(out.Notices) != 0 {
				t.Errorf("%+v %s", out, w.said())
			}
			if out := w.moment(t, bash("rm -rf")); out.Blocked == nil {
				t.Errorf("%+v", out)
			}
			if got, err := w.run(t, "greet", map[string]any{"name": "Bob"}); got != "Hello, Bob!" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if got, err := w.run(t, "word_count", map[string]any{"text": "a b"}); got != "2 words" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := w.command(t.Context(), t, "ping", "", sdk.Context{}); err != nil {
				t.Error(err)
			}
			if got := w.said(); got != "anatomy: Pong!" {
				t.Errorf("said %q", got)
			}
		})
	}
}
