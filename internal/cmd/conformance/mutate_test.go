package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMutants(t *testing.T) {
	t.Parallel()
	const source = `package p

const untouched = "constants are not covered by tests"

func f(a int, b bool) (string, error) {
	a = 2
	if a < 3 && b {
		return "", fmt.Errorf("no: %d", a)
	}
	call()
	x := true
	return "yes", err
}
`
	list, err := mutants("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for what, line := range map[string]string{
		"dropped: a = 2":               "\t\n",
		"2 becomes 2+1":                "\ta = (2+1)\n",
		"condition a < 3 && b negated": "\tif !(a < 3 && b) {\n",
		"&& becomes ||":                "\tif a < 3 || b {\n",
		"< becomes >=":                 "\tif a >= 3 && b {\n",
		"returned error becomes nil":   "\t\treturn \"\", nil\n",
		"dropped: call()":              "\t\n",
		"true becomes false":           "\tx := false\n",
		`"yes" changed`:                "\treturn \"mutated\", err\n",
		`"no: %d" changed`:             "\t\treturn \"\", fmt.Errorf(\"mutated\", a)\n",
	} {
		i := slices.IndexFunc(list, func(m mutant) bool { return m.what == what })
		if i < 0 {
			t.Errorf("no change %q", what)
			continue
		}
		before := strings.SplitAfter(source, "\n")
		after := strings.SplitAfter(string(list[i].apply([]byte(source))), "\n")
		if n := list[i].line - 1; len(before) != len(after) || after[n] != line || before[n] == line {
			t.Errorf("%s: line %d is %q, want %q", what, n+1, after[n], line)
		}
	}
	if slices.ContainsFunc(list, func(m mutant) bool { return strings.Contains(m.what, "constants") }) {
		t.Error("changes what no profile covers")
	}
}

func TestCovered(t *testing.T) {
	t.Parallel()
	blocks, err := covered("mode: set\nexample.com/p/a.go:3.20,5.2 2 1\nexample.com/p/a.go:7.20,9.2 1 0\n")
	if err != nil || len(blocks) != 1 || blocks[0].file != "example.com/p/a.go" {
		t.Fatalf("%+v, %v", blocks, err)
	}
	for _, tt := range []struct {
		line, column int
		want         bool
	}{{3, 19, false}, {3, 20, true}, {4, 1, true}, {5, 1, true}, {5, 2, false}, {6, 1, false}} {
		if got := blocks[0].holds(tt.line, tt.column); got != tt.want {
			t.Errorf("%d.%d: %v", tt.line, tt.column, got)
		}
	}
	if _, err := covered("nonsense\n"); err == nil {
		t.Error("took nonsense")
	}
}

func TestClaimedTests(t *testing.T) {
	t.Parallel()
	list, err := parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := claimedTests(fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\n\n// HK-02: before.\nfunc TestA(t *testing.T) {\n\t// HK-01\n}\n\n" +
			"func TestB(t *testing.T) {}\n\nfunc TestCN01(t *testing.T) {}\n\n// CN-01\nfunc helper() {}\n")},
		"a/testdata/b_test.go": {Data: []byte("package b\n\n// HK-03\nfunc TestB(t *testing.T) {}\n")},
	}, list)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range tests {
		got = append(got, c.String())
	}
	if want := []string{"a TestA (HK-01 HK-02)", "a TestCN01 (CN-01)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A test that checks what it claims notices changes; one that only calls the code does not.
func TestMutate(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil || testing.Short() {
		t.Skip("builds programs with the go command")
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module example.com/m\n\ngo 1.26\n",
		"docs/conformance.md": doc,
		"p/p.go": "package p\n\nfunc Strong(a int) int {\n\tif a > 1 {\n\t\treturn 7\n\t}\n\treturn a\n}\n\n" +
			"func Weak(a int) int {\n\tif a > 1 {\n\t\treturn 7\n\t}\n\treturn a\n}\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\n// HK-01\nfunc TestStrong(t *testing.T) {\n" +
			"\tif Strong(1) != 1 || Strong(2) != 7 {\n\t\tt.Fatal()\n\t}\n}\n\n" +
			"// HK-02 HK-03\nfunc TestWeak(t *testing.T) {\n\tWeak(2)\n}\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	code := run([]string{"-root", root, "-mutate", "-n", "2", "-package", "./p"}, &out, &out)
	for _, want := range []string{
		"p TestStrong (HK-01): 2 of 2 noticed\n",
		"p TestWeak (HK-02 HK-03): 0 of 2 noticed\n   survived p/p.go:1",
		"mutate: 2 tests, 4 changes, 2 noticed\nmutate: claims that notice nothing: HK-02 HK-03\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if code != 1 || t.Failed() {
		t.Errorf("code %d\n%s", code, &out)
	}
	out.Reset()
	if code := run([]string{"-root", root, "-mutate", "-n", "1", "-claim", "HK-01"}, &out, &out); code != 0 ||
		strings.Contains(out.String(), "TestWeak") {
		t.Errorf("code %d\n%s", code, &out)
	}
}
