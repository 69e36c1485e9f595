package manage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/plugin"
)

// TestMain makes this test binary answer to the names go and ssh, for tests that
// look at how those are called.
func TestMain(m *testing.M) {
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "go":
		os.Exit(fakeGo(os.Args[1:]))
	case "ssh":
		record(os.Args[1:])
		fmt.Fprintln(os.Stderr, "git@host: Permission denied (publickey).")
		os.Exit(255)
	}
	os.Exit(m.Run())
}

// record notes a call in the file $FAKE_LOG.
func record(args []string) {
	f, err := os.OpenFile(os.Getenv("FAKE_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	dir, _ := os.Getwd()
	if err := json.NewEncoder(f).Encode(call{Args: args, Dir: dir, Env: os.Environ()}); err != nil {
		panic(err)
	}
}

type call struct {
	Args []string
	Dir  string
	Env  []string
}

// fakeGo is a go command that does nothing, fails or hangs.
func fakeGo(args []string) int {
	if args[0] == "env" {
		fmt.Println("{}")
		return 0
	}
	record(args)
	verb := args[1]
	if os.Getenv("FAKE_FAIL") == verb {
		fmt.Fprintln(os.Stderr, "go: it went wrong")
		return 1
	}
	if os.Getenv("FAKE_HANG") == verb {
		if err := os.WriteFile(os.Getenv("FAKE_LOG")+".started", nil, 0o644); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	}
	if verb == "vendor" {
		if err := os.MkdirAll("vendor", 0o755); err != nil {
			panic(err)
		}
	}
	return 0
}

// realGo is what the go command of this machine says of itself.
var realGo = sync.OnceValue(func() map[string]string {
	out, err := exec.Command("go", "env", "-json", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN").
		Output()
	if err != nil {
		panic(err)
	}
	var set map[string]string
	if err := json.Unmarshal(out, &set); err != nil {
		panic(err)
	}
	return set
})

// world is a directory with a project home, a global home and repositories.
type world struct {
	*testing.T
	dir      string
	env      []string
	out      bytes.Buffer
	failWith string // Step that fails.
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.dir, "user"),
		"USERPROFILE=" + filepath.Join(w.dir, "user"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b.c",
		"GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b.c",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"TMPDIR=" + os.TempDir(),
	}
	for _, name := range []string{"SYSTEMROOT", "TEMP", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			w.env = append(w.env, name+"="+v)
		}
	}
	w.write("user", map[string]string{".gitconfig": "[maintenance]\n\tauto = false\n[gc]\n\tauto = 0\n"})
	// The go command counts its uses in the background, and would do so while the
	// directory is removed.
	for _, dir := range []string{".config", "Library/Application Support"} {
		w.write("user/"+dir+"/go/telemetry", map[string]string{"mode": "off"})
	}
	for name, value := range realGo() {
		w.env = append(w.env, name+"="+value)
	}
	return w
}

// set adds to the environment.
func (w *world) set(kv ...string) { w.env = append(w.env, kv...) }

func (w *world) project() string { return filepath.Join(w.dir, "project", ".aura") }
func (w *world) global() string  { return filepath.Join(w.dir, "user", ".aura") }
func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}
func (w *world) plugins(parts ...string) string {
	return filepath.Join(append([]string{w.project(), "plugins"}, parts...)...)
}

// manager manages both homes, the project's being written to.
func (w *world) manager() *Manager {
	m := New(
		Options{
			Homes:    []Home{{Dir: w.global(), Global: true}, {Dir: w.project()}},
			Env:      slices.Clone(w.env),
			Progress: &w.out,
		},
	)
	m.inject = func(step string) error {
		if step == w.failWith {
			return fmt.Errorf("injected at %s", step)
		}
		return nil
	}
	return m
}

// write writes files below a directory of the world.
func (w *world) write(dir string, files map[string]string) string {
	w.Helper()
	root := w.path(dir)
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			w.Fatal(err)
		}
	}
	return root
}

// git runs git in a directory of the world.
func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir, cmd.Env = w.path(dir), w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository with one commit and returns its URL.
func (w *world) repo(dir string, files map[string]string) string {
	w.Helper()
	root := w.write(dir, nil)
	if err := os.MkdirAll(root, 0o755); err != nil {
		w.Fatal(err)
	}
	w.git(dir, "init", "-q", "--template=", "-b", "main")
	w.commit(dir, "first", files)
	return "file://" + filepath.ToSlash(root)
}

// commit adds a commit and returns its hash.
func (w *world) commit(dir, subject string, files map[string]string) string {
	w.Helper()
	w.write(dir, files)
	w.git(dir, "add", "-A", "-f")
	w.git(dir, "commit", "-q", "--allow-empty", "-m", subject)
	head := strings.TrimSpace(w.read(w.path(dir), ".git", "HEAD"))
	return strings.TrimSpace(w.read(w.path(dir), ".git", strings.TrimPrefix(head, "ref: ")))
}

// pluginFiles are the files of a plugin with one hook.
func pluginFiles(dir, name string) map[string]string {
	pkg := strings.ReplaceAll(name, "-", "_")
	files := map[string]string{
		"go.mod":      "module " + name + "\n\ngo 1.24\n\nrequire github.com/idelchi/aura/sdk v0.0.0\n",
		"plugin.yaml": "description: \"" + name + " plugin\"\n",
		"main.go": "package " + pkg + "\n\nimport (\n\t\"context\"\n\n\t\"github.com/idelchi/aura/sdk\"\n)\n\n" +
			"func BeforeChat(_ context.Context, _ sdk.BeforeChatContext) (sdk.Result, error) {\n" +
			"\treturn sdk.Result{}, nil\n}\n",
	}
	out := map[string]string{}
	for file, text := range files {
		out[filepath.ToSlash(filepath.Join(dir, file))] = text
	}
	return out
}

// both joins sets of files.
func both(sets ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// fakes puts the fake go, or another program, first into PATH and returns a
// function that reads how it was called.
func (w *world) fakes(name string) func() []call {
	w.Helper()
	bin := w.path("bin-" + name)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		w.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	if windows {
		name += ".exe"
	}
	if err := os.Link(exe, filepath.Join(bin, name)); err != nil {
		if err := copyFile(exe, filepath.Join(bin, name)); err != nil {
			w.Fatal(err)
		}
	}
	log := w.path("calls-" + name)
	w.set("PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "FAKE_LOG="+log)
	return func() (calls []call) {
		text, err := os.ReadFile(log)
		if err != nil {
			return nil
		}
		for line := range strings.Lines(string(text)) {
			var c call
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				w.Fatal(err)
			}
			calls = append(calls, c)
		}
		return calls
	}
}

// snapshot is everything below the world's homes: what must not change when
// something fails. Git's own files count by their names.
func (w *world) snapshot() map[string]string {
	w.Helper()
	tree := map[string]string{}
	for _, root := range []string{"project", "user/.aura"} {
		err := filepath.WalkDir(w.path(root), func(file string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(w.dir, file)
			if d.IsDir() {
				tree[rel] = "directory"
				return nil
			}
			text, err := os.ReadFile(file)
			tree[rel] = string(text)
			return err
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return tree
}

// unchanged fails the test if the homes are not as they were.
func (w *world) unchanged(before map[string]string) {
	w.Helper()
	after := w.snapshot()
	for name, text := range after {
		if had, ok := before[name]; !ok {
			w.Errorf("left behind: %s", name)
		} else if had != text {
			w.Errorf("changed: %s", name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			w.Errorf("gone: %s", name)
		}
	}
}

// add installs without vendoring, which is what most tests need.
func (w *world) add(source string, change ...func(*AddOptions)) *Installed {
	w.Helper()
	o := AddOptions{Source: source, NoVendor: true}
	for _, c := range change {
		c(&o)
	}
	r, err := w.manager().Add(w.Context(), o)
	if err != nil {
		w.Fatalf("add %s: %v", source, err)
	}
	return r
}

func (w *world) read(parts ...string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *world) exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// listed returns the plugins by name.
func (w *world) listed() map[string]Plugin {
	w.Helper()
	list, err := w.manager().List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	out := map[string]Plugin{}
	for _, p := range list {
		out[p.Name] = p
	}
	return out
}

// wants checks an error's text.
func wants(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func infoNames(list []plugin.Info) (names []string) {
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}
