package plugin_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// PL-15 PL-17 PL-31 PL-32
func TestModules(t *testing.T) {
	t.Parallel()
	main := func(pkg string) string {
		return "package " + pkg + "\n\nimport (\n\t\"context\"\n\t\"github.com/idelchi/aura/sdk\"\n)\n\n" + speak(
			`"hello"`,
		)
	}
	for _, c := range []struct {
		module, pkg string
		parts       []string // Of the error; none if it loads.
	}{
		{"my-plugin", "my_plugin", nil},
		{"example.com/a/b-c", "b_c", nil},
		{"my-plugin", "foo", []string{"main.go:1:9", "package foo", "expected package my_plugin", "my-plugin"}},
		{"example.com/1up", "x", []string{"1up", "not a Go identifier"}},
		{"strings", "strings", []string{"standard library"}},
	} {
		dir := t.TempDir()
		writeFiles(
			t,
			dir,
			map[string]string{"p/go.mod": "module " + c.module + "\n", "p/plugin.yaml": "", "p/main.go": main(c.pkg)},
		)
		if len(c.parts) > 0 {
			refused(t, plugin.Options{Dirs: []string{dir}}, c.parts...)
		} else if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "hello" {
			t.Errorf("module %s: said %q", c.module, got)
		}
	}

	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"p/plugin.yaml": "", "p/main.go": main("p")})
	refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "p": `, "go.mod")
	writeFiles(t, dir, map[string]string{"p/go.mod": "modul p"})
	refused(t, plugin.Options{Dirs: []string{dir}}, "go.mod")
	writeFiles(t, dir, map[string]string{"p/go.mod": "go 1.25\n"})
	refused(t, plugin.Options{Dirs: []string{dir}}, "no module line")
	writeFiles(t, dir, map[string]string{"p/go.mod": "module p\n", "p/other.go": "package q\n"})
	refused(t, plugin.Options{Dirs: []string{dir}}, "other.go", "package q, expected package p")
}

// Files of one package see each other, in whatever order they are read; tests and
// files for other platforms take no part. PL-16 PL-21 PL-33 PL-67
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "", "", speak(`first() + last() + flavour`))
	other := "windows"
	if os.PathSeparator == '\\' {
		other = "linux"
	}
	writeFiles(t, filepath.Join(dir, "probe"), map[string]string{
		"a.go":               "package probe\n\nfunc first() string { return \"a\" }\n",
		"z.go":               "package probe\n\nfunc last() string { return \"z\" }\n",
		"go.sum":             "",
		"README.md":          "not Go",
		"probe_test.go":      "package probe_test\n\nimport \"testing\"\n",
		"f_" + other + ".go": "package probe\n\nconst flavour = \"of another system\"\n",
		"ignored.go":         "//go:build ignore\n\npackage main\n\nimport \"C\"\n",
		"never.go": "//go:build never && (" + other + " || cgo)\n\npackage probe\n\n" +
			"const flavour = \"never\"\n",
		"yes.go":               "//go:build !" + other + "\n\npackage probe\n\nconst flavour = \"!\"\n",
		"purego.go":            "//go:build !purego\n\npackage probe\n\nfunc first() string\n",
		"testdata/x/x.go":      "package broken (",
		"internal/sub/sub.go":  "package sub\n\nconst Name = \"sub\"\n",
		"internal/sub/x_s.txt": "",
	})
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "az!" {
		t.Errorf("said %q", got)
	}
	write(t, dir, "probe", "", "probe/internal/sub", speak(`sub.Name`))
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "sub" {
		t.Errorf("with a package of its own: %q", got)
	}
}

// PL-18 PL-19 PL-22 PL-55 VN-01 VN-10 VN-11 VN-12: every plugin has its own
// variables and its own vendored libraries, and the SDK of the program.
func TestIsolation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, version := range map[string]string{"one": "1", "two": "2"} {
		write(
			t,
			dir,
			name,
			"",
			"example.com/lib fmt",
			"var n int\n\nfunc bump() string { n++; return fmt.Sprint(n, lib.Version()) }\n"+speak(`bump()`),
		)
		writeFiles(t, filepath.Join(dir, name), map[string]string{
			"go.mod": "module same/" + name + "\n",
			"vendor/example.com/lib/lib.go": "package lib\n\nimport \"example.com/lib/deep\"\n\n" +
				"func Version() string { return \"v\" + deep.Number }\n",
			"vendor/example.com/lib/deep/d.go":          "package deep\n\nvar Number = \"" + version + "\"\n",
			"vendor/example.com/lib/asm.s":              "TEXT nonsense",
			"vendor/modules.txt":                        "# example.com/lib v1.0.0\n",
			"vendor/github.com/idelchi/aura/sdk/sdk.go": "package sdk\n\ntype Result struct { Nothing int }\n",
		})
	}
	s := load(t, plugin.Options{Dirs: []string{dir}})
	if got := said(t, s); got != "1v1|1v2" {
		t.Errorf("said %q", got)
	}
	if got := said(t, s); got != "2v1|2v2" { // PL-25 LC-14
		t.Errorf("said the second time %q", got)
	}
}

// PL-19 VN-09: plugins with the same module path do not get in each other's way, and
// what is vendored comes before what the module has under the same path.
func TestSameModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		writeFiles(t, filepath.Join(dir, name), map[string]string{
			"plugin.yaml": "",
			"go.mod":      "module example.com/same\n",
			"main.go": "package same\n\nimport (\n\t\"context\"\n\n\t\"example.com/same/sub\"\n" +
				"\t\"github.com/idelchi/aura/sdk\"\n)\n\n" + speak(
				"sub.Name",
			),
			"sub/sub.go": "package sub\n\nconst Name = \"" + name + "\"\n",
		})
	}
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "one|two" {
		t.Errorf("said %q", got)
	}
	writeFiles(
		t,
		dir,
		map[string]string{"one/vendor/example.com/same/sub/sub.go": "package sub\n\nconst Name = \"vendored\"\n"},
	)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "vendored|two" {
		t.Errorf("with one vendored: said %q", got)
	}
}

// PL-20 PL-52 PL-53 PL-69 PL-70: the standard library is there.
func TestStandardLibrary(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }),
	)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"data.txt": "read"})
	write(
		t,
		dir,
		"probe",
		"config: {url: "+server.URL+", file: "+filepath.ToSlash(filepath.Join(dir, "data.txt"))+"}",
		"bufio bytes crypto/sha256 encoding/base64 encoding/hex encoding/json encoding/xml errors fmt "+
			"html/template io io/fs log log/slog math math/big "+
			"net net/http net/url os os/user path path/filepath reflect regexp sort strconv strings sync "+
			"sync/atomic time unicode unicode/utf8",
		`type point struct {
	X int `+"`json:\"x\"`"+`
}

func (p point) String() string { return fmt.Sprintf("<%d>", p.X) }

var mu sync.Mutex
var n atomic.Int64
var _ = bufio.NewReader
var _ = bytes.NewBuffer
var _ = base64.StdEncoding
var _ = xml.Marshal
var _ = template.New
var _ fs.FileMode
var _ = slog.Info
var _ = log.Println
var _ = big.NewInt
var _ net.IP
var _ = url.Parse
var _ = user.Current
var _ = path.Join
var _ = filepath.Join
var _ = reflect.TypeOf
var _ = sort.Strings
var _ = strconv.Itoa
var _ = unicode.IsUpper
var _ = utf8.RuneLen

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	mu.Lock()
	defer mu.Unlock()
	n.Add(1)
	text, err := os.ReadFile(c.PluginConfig["file"].(string))
	if err != nil {
		return sdk.Result{}, err
	}
	resp, err := http.Get(c.PluginConfig["url"].(string))
	if err != nil {
		return sdk.Result{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return sdk.Result{}, err
	}
	data, err := json.Marshal(point{3})
	if err != nil {
		return sdk.Result{}, err
	}
	sum := sha256.Sum256([]byte("x"))
	out := []string{string(text), string(body), string(data), fmt.Sprint(point{4}), hex.EncodeToString(sum[:2]), strings.ToUpper("up"),
		fmt.Sprint(math.MaxInt64, math.Pi > 3.14, errors.New("e"), time.Duration(1500)*time.Millisecond), regexp.MustCompile("b+").FindString("abbc")}
	return sdk.Result{Message: strings.Join(out, " ")}, nil
}
`,
	)
	want := `read served {"x":3} <4> 2d71 UP 9223372036854775807 true e 1.5s bb`
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// Interpreted types implement interfaces of packages that the plugin does not even
// import.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	s := one(t, "", "encoding/json fmt sort strings", `
type writer struct{ b *strings.Builder }

func (w writer) Write(p []byte) (int, error) { return w.b.Write(p) }

type numbers []int

func (n numbers) Len() int           { return len(n) }
func (n numbers) Less(i, j int) bool { return n[i] < n[j] }
func (n numbers) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }

func text() string {
	w := writer{&strings.Builder{}}
	if err := json.NewEncoder(w).Encode(map[string]int{"a": 1}); err != nil {
		return err.Error()
	}
	n := numbers{3, 1, 2}
	sort.Sort(n)
	fmt.Fprint(w, []int(n))
	return w.b.String()
}
`+speak("text()"))
	if got := said(t, s); got != "{\"a\":1}\n[1 2 3]" {
		t.Errorf("said %q", got)
	}
}

// What the interpreter cannot do is an error that says so. PL-45 PL-46 PL-48 PL-56
// PL-57 PL-58 PL-59 PL-60 PL-61 UN-01 UN-02
func TestLimits(t *testing.T) {
	t.Parallel()
	hello := speak(`"x"`)
	unsafeHint := []string{"plugins.unsafe: true", "--unsafe-plugins"}
	for _, c := range []struct {
		imports, body string
		parts         []string
	}{
		{"os/exec", hello, append(unsafeHint, `import "os/exec"`, "main.go:5:8")},
		{"syscall", hello, append(unsafeHint, `import "syscall"`)},
		{"os/signal", hello, append(unsafeHint, `import "os/signal"`)},
		{"os", hello + "var p, _ = os.FindProcess(1)\n", append(unsafeHint, "main.go:13:12: os.FindProcess")},
		{"os", hello + "func f() { os.StartProcess(\"\", nil, nil) }\n", append(unsafeHint, "os.StartProcess")},
		{"os", hello + "func f() { os.Chdir(\"/\") }\n", append(unsafeHint, "os.Chdir")},
		{"unsafe", hello, []string{`import "unsafe"`}},
		{"C", hello, []string{`import "C"`, "cgo"}},
		{"image/png", hello, []string{`import "image/png"`, "not available"}},
		{"github.com/some/lib", hello, []string{`"github.com/some/lib"`, "go mod vendor"}},
		{"nosuch", hello, []string{`"nosuch"`, "no such package"}},
		{"slices", hello + "func init() { slices.SortFunc([]int{1}, func(a, b int) int { return a - b }) }\n",
			[]string{"slices.SortFunc", "generic"}},
		{"maps", hello + "var m = maps.Clone(map[string]int{})\n", []string{"generic"}},
		{"maps", hello + "func init() { _ = maps.Keys(map[string]int{}) }\n", []string{"maps.Keys", "generic"}},
		{"", hello + "func init() { _ = min(1, 2) }\n", []string{"main.go:12:19", "builtin min"}},
		{"", hello + "var m = max(1, 2)\n", []string{"builtin max"}},
		{"", hello + "func seq(yield func(int) bool) {}\n\nfunc init() {\n\tfor range seq {\n\t}\n}\n",
			[]string{"loading"}},
		{"", hello + "func init() { panic(\"boom\") }\n", []string{"panic while loading: boom"}},
		{"", hello + "var m map[string]int\n\nfunc init() { m[\"a\"] = 1 }\n", []string{"panic while loading"}},
		{"", hello + "func asm() int\n\nvar n = asm()\n", nil},
		{"", "func (", []string{"main.go:"}},
		{"", speak("nowhere"), []string{"main.go:10:29: undefined: nowhere"}},
		{"", "func Other() {}\n", []string{"no hook, tool or command", "BeforeChat", "Schema", "Command"}},
		{"", "func BeforeChat() {}\n", []string{"BeforeChat has the signature func()",
			"expected func(context.Context, sdk.BeforeChatContext) (sdk.Result, error)"}},
	} {
		dir := t.TempDir()
		write(t, dir, "probe", "", c.imports, c.body)
		refused(t, plugin.Options{Dirs: []string{dir}}, append(c.parts, `plugin "probe": `)...)
	}
}

// What works in the interpreter although it might not. PL-63 PL-68
func TestLanguage(t *testing.T) {
	t.Parallel()
	s := one(t, "", "fmt slices", `
func text() string {
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { return i })
	}
	sum := 0
	for _, f := range fs {
		sum += f()
	}
	for i := range 4 {
		sum += i * 10
	}
	kind := ""
	for _, r := range "aé\n" {
		switch r {
		case 'a':
			kind += "letter "
		case '\n':
			kind += "end"
		default:
			kind += "other "
		}
	}
	return fmt.Sprint(sum, kind, slices.Contains([]string{"x"}, "x"), first([]int{7}))
}

func first[T any](list []T) T { return list[0] }
`+speak("text()"))
	if got := said(t, s); got != "63letter other endtrue 7" {
		t.Errorf("said %q", got)
	}
}

// Parameters need no names, and _ is not a variable.
func TestUnnamedParameters(t *testing.T) {
	t.Parallel()
	s := one(t, "", "strings", `
type greeter struct{ word string }

func (g greeter) greet(int, ...string) string { return g.word }

func (greeter) name(_, _ int, _ string) (_ string, err error) {
	_, ok := strings.CutPrefix("x", "y")
	_ = ok
	return "nameless", err
}

func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) {
	f := func(string, int) string { return "literal" }
	n, _ := greeter{}.name(1, 2, "")
	return sdk.Result{Message: strings.Join([]string{f("", 1), greeter{"method"}.greet(1, "a", "b"), n}, " ")}, nil
}

func TransformMessages(_ context.Context, c sdk.TransformContext) ([]sdk.Message, error) {
	last := c.Messages[len(c.Messages)-1]
	_ = last
	_, ok := c.PluginConfig["x"]
	_ = ok
	return c.Messages, nil
}
`)
	if got := said(t, s); got != "literal method nameless" {
		t.Errorf("said %q", got)
	}
	if out := dispatch(t, s, lifecycle.TransformMessages, data(lifecycle.TransformMessages)); len(out.Notices) > 0 {
		t.Error(out.Notices)
	}
}

// PL-49 PL-64: init runs at loading; goroutines go on after the hook has returned.
func TestInitAndGoroutines(t *testing.T) {
	t.Parallel()
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "written"))
	s := one(t, "", "os", "var ready string\nvar done = make(chan bool)\n\nfunc init() { ready = \"ready\" }\n\n"+`
func BeforeChat(_ context.Context, _ sdk.BeforeChatContext) (sdk.Result, error) {
	go func() {
		os.WriteFile("`+file+`", []byte("late"), 0o644)
		close(done)
	}()
	return sdk.Result{Message: ready}, nil
}

func AfterResponse(_ context.Context, _ sdk.AfterResponseContext) (sdk.Result, error) {
	<-done
	return sdk.Result{}, nil
}
`)
	if got := said(t, s); got != "ready" {
		t.Errorf("said %q", got)
	}
	dispatch(t, s, lifecycle.AfterResponse, &sdk.AfterResponseContext{})
	if text, err := os.ReadFile(file); err != nil || string(text) != "late" {
		t.Errorf("the goroutine wrote %q, %v", text, err)
	}
}
