package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const doc = `# Conformance

Tests say HK-35 or a range.

## Decisions

- **Words** (HK-02): not a statement.

## HK shell hooks

- HK-01 | a | b | T: c
- HK-02 | a | b | T: c
- HK-03 | a | b | T: c
- HK-115 | a | b | T: c

## CN conditions

### part
- CN-01 | a | b | T: c
`

func TestParse(t *testing.T) {
	t.Parallel()
	list, err := parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].name != "HK" || list[0].title != "shell hooks" || list[1].name != "CN" {
		t.Fatalf("areas: %+v", list)
	}
	if want := []int{1, 2, 3, 115}; !slices.Equal(list[0].numbers, want) {
		t.Errorf("numbers: %v, want %v", list[0].numbers, want)
	}
	for name, text := range map[string]string{
		"twice":      "## HK x\n- HK-01 | a\n- HK-01 | b\n",
		"wrong area": "## HK x\n- CN-01 | a\n",
		"no":         "nothing\n",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	list, err := parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file, text string
		want             []string
		err              string
	}{
		{"comment", "a/a_test.go", "// HK-01 and CN-01\n", []string{"CN-01", "HK-01"}, ""},
		{"long number", "a_test.go", `t.Run("HK-115", f)`, []string{"HK-115"}, ""},
		{"range", "a_test.go", "// HK-01..HK-03", []string{"HK-01", "HK-02", "HK-03"}, ""},
		{"short range", "a_test.go", "// HK-02..03", []string{"HK-02", "HK-03"}, ""},
		{"function", "a_test.go", "func TestStopHK01_CN_01(t *testing.T) {", []string{"CN-01", "HK-01"}, ""},
		{"name elsewhere", "a_test.go", `x := "HK01"`, nil, ""},
		{"script", "examples/x/testdata/a.txtar", "# HK-02\n", []string{"HK-02"}, ""},
		{"python", "examples/x/test_a.py", "# HK-02\n", []string{"HK-02"}, ""},
		{"not a test", "a.go", "// HK-01", nil, ""},
		{"vendored", "x/vendor/a_test.go", "// HK-99", nil, ""},
		{"other words", "a_test.go", "// UTF-16 ISO-8859 XHK-01 HK-011x", nil, ""},
		{"unknown", "b_test.go", "\n// HK-99", nil, "b_test.go:2: claims HK-99"},
		{"unknown in range", "b_test.go", "// HK-03..HK-04", []string{"HK-03"}, "claims HK-04"},
		{"backwards", "b_test.go", "// HK-03..HK-01", nil, "not a range"},
		{"across areas", "b_test.go", "// HK-01..CN-01", nil, "not a range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			claims, errs := scan(fstest.MapFS{tt.file: {Data: []byte(tt.text)}}, list)
			var got []string
			for c := range claims {
				got = append(got, c.String())
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("claims %v, want %v", got, tt.want)
			}
			switch {
			case tt.err == "" && len(errs) > 0:
				t.Errorf("errors: %v", errs)
			case tt.err != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.err)):
				t.Errorf("errors %v, want one with %q", errs, tt.err)
			}
		})
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("docs/conformance.md", doc)
	write("a_test.go", "// HK-02 CN-01\n")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 0, "HK    1/4    shell hooks\n   unclaimed: HK-01 HK-03 HK-115\nCN    1/1    conditions\n" +
			"conformance: 2 of 5"},
		{[]string{"-summary"}, 0, "HK    1/4    shell hooks\nCN"},
		{[]string{"-strict", "CN"}, 0, "2 of 5"},
		{[]string{"-strict", "CN, HK"}, 1, "3 statements of the strict areas CN, HK are unclaimed"},
		{[]string{"-strict", "XX"}, 2, `no area "XX"`},
		{[]string{"-nonsense"}, 2, "nonsense"},
	} {
		var out bytes.Buffer
		if code := run(
			append([]string{"-root", root}, tt.args...),
			&out,
			&out,
		); code != tt.code ||
			!strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: code %d, output:\n%s\nwant code %d and %q", tt.args, code, &out, tt.code, tt.want)
		}
	}
	write("b_test.go", "// CN-77\n")
	var out bytes.Buffer
	if code := run(
		[]string{"-root", root},
		&out,
		&out,
	); code != 1 ||
		!strings.Contains(out.String(), "b_test.go:1: claims CN-77") {
		t.Errorf("wrong claim: code %d\n%s", code, &out)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	if got, want := ranges("HK", []int{1, 2, 3, 5, 7, 8}), "HK-01..HK-03 HK-05 HK-07..HK-08"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
