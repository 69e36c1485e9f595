package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/tool"
)

// project is a small repository with ignored files.
func project(t testing.TB) string {
	return tree(t, map[string]string{
		".git/HEAD":           "ref",
		".git/info/exclude":   "private\n",
		".gitignore":          "*.log\n/build/\nnode_modules/\n!keep.log\n",
		".hidden":             "needle hidden\n",
		"main.go":             "package main\n\nfunc main() {\n\tneedle()\n}\n",
		"a.log":               "needle\n",
		"keep.log":            "needle kept\n",
		"build/out.go":        "needle\n",
		"sub/build/x.go":      "needle in sub/build\n",
		"sub/.gitignore":      "*.tmp\n!../a.log\n/only/here\n",
		"sub/x.tmp":           "needle\n",
		"sub/only/here":       "needle\n",
		"sub/deep/only/here":  "needle deep\n",
		"sub/deep/a_test.go":  "package deep // Needle\r\n",
		"node_modules/m/i.js": "needle\n",
		"private":             "needle\n",
		"bin.dat":             "needle\x00\n",
		"empty.go":            "",
	})
}

func TestGlob(t *testing.T) {
	dir := project(t)
	tests := []struct {
		name string
		args args
		want string
	}{
		{"top", args{"pattern": "*.go"}, "empty.go main.go"},
		{"all", args{"pattern": "**/*.go"}, "empty.go main.go sub/build/x.go sub/deep/a_test.go"},
		{"in a directory", args{"pattern": "**/*.go", "path": "sub"}, "sub/build/x.go sub/deep/a_test.go"},
		{"fixed beginning", args{"pattern": "sub/**/*.go"}, "sub/build/x.go sub/deep/a_test.go"},
		{"one level", args{"pattern": "*/*/*.go"}, "sub/build/x.go sub/deep/a_test.go"},
		{"alternatives", args{"pattern": "{main,empty}.go"}, "empty.go main.go"},
		{"hidden", args{"pattern": ".*"}, ".gitignore .hidden"},
		{"negated", args{"pattern": "*.log"}, "keep.log"},
		{
			"ignored by exclude",
			args{"pattern": "private"},
			"no files match private (to search sub-directories too: **/private)",
		},
		{"git itself", args{"pattern": ".git/**"}, "HEAD-is-visible-when-named"},
		{"anchored in a sub-directory", args{"pattern": "**/here"}, "sub/deep/only/here"},
		{"asked for by name", args{"pattern": "**", "path": "node_modules"}, "node_modules/m/i.js"},
		{"absolute", args{"pattern": filepath.ToSlash(dir) + "/*.go"}, "empty.go main.go"},
		{"dot", args{"pattern": "./*.go"}, "empty.go main.go"},
		{"nothing", args{"pattern": "x/*.rs"}, "no files match x/*.rs"},
		{"file", args{"pattern": "sub/deep/a_test.go"}, "sub/deep/a_test.go"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := good(t, "Glob", dir, tt.args)
			if tt.want == "HEAD-is-visible-when-named" {
				contains(t, got, ".git/HEAD")
				return
			}
			if !strings.HasPrefix(tt.want, "no ") {
				got = strings.ReplaceAll(got, "\n", " ")
			}
			equal(t, got, tt.want)
		})
	}
	bad(t, "Glob", dir, args{"pattern": "[a"}, "is not valid")
	bad(t, "Glob", dir, args{"pattern": "*", "path": "nope"}, "nope does not exist")
	bad(t, "Glob", dir, args{"pattern": "*", "path": "main.go"}, "main.go is a file")
	elsewhere := t.TempDir()
	contains(t, good(t, "Glob", elsewhere, args{"pattern": "*.go", "path": dir}), filepath.ToSlash(dir)+"/main.go")
}

func TestGlobLimit(t *testing.T) {
	files := map[string]string{}
	for i := range maxGlob + 5 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	got := good(t, "Glob", tree(t, files), args{"pattern": "*"})
	contains(t, got, "f0999\n[only the first 1000 are shown")
}

func TestLs(t *testing.T) {
	dir := project(t)
	equal(t, good(t, "Ls", dir, args{"path": "sub", "depth": 2.0}),
		"build/\n  x.go  20 B\ndeep/\n  only/\n  a_test.go  24 B\nonly/\n  here  7 B\n.gitignore  27 B\nx.tmp  7 B\n")
	got := good(t, "Ls", dir, args{"depth": 5.0})
	contains(t, got, ".git/\nbuild/\n", "a.log  7 B\n", "node_modules/\n  m/\n")
	if strings.Contains(got, "HEAD") {
		t.Error(".git was opened")
	}
	if top := good(t, "Ls", dir, args{}); strings.Contains(top, "x.go") {
		t.Errorf("depth is not 1:\n%s", top)
	}
	contains(t, good(t, "Ls", dir, args{"path": t.TempDir()}), " is empty")
	bad(t, "Ls", dir, args{"path": "main.go"}, "main.go is a file")
	bad(t, "Ls", dir, args{"path": "mian.go"}, "did you mean main.go?")
	bad(t, "Ls", dir, args{"depth": 0.0}, "minimum")

	files := map[string]string{}
	for i := range maxLs + 5 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	contains(t, good(t, "Ls", tree(t, files), args{}), "f0999  0 B\n[only the first 1000 entries")
}

func TestRg(t *testing.T) {
	dir := project(t)
	tests := []struct {
		name string
		args args
		want string
	}{
		{
			"plain",
			args{"pattern": "needle"},
			".hidden:1:needle hidden\nkeep.log:1:needle kept\nmain.go:4:\tneedle()\n" +
				"sub/build/x.go:1:needle in sub/build\nsub/deep/only/here:1:needle deep\n",
		},
		{
			"case",
			args{"pattern": "NEEDLE", "ignore_case": true, "path": "sub"},
			"sub/build/x.go:1:needle in sub/build\nsub/deep/a_test.go:1:package deep // Needle\n" +
				"sub/deep/only/here:1:needle deep\n",
		},
		{
			"glob by name",
			args{"pattern": "needle", "glob": "*.go"},
			"main.go:4:\tneedle()\nsub/build/x.go:1:needle in sub/build\n",
		},
		{"glob by path", args{"pattern": "needle", "glob": "sub/**/*.go"}, "sub/build/x.go:1:needle in sub/build\n"},
		{"file", args{"pattern": "^func", "path": "main.go"}, "main.go:3:func main() {\n"},
		{"ignored file by name", args{"pattern": "needle", "path": "a.log"}, "a.log:1:needle\n"},
		{"ignored directory by name", args{"pattern": "needle", "path": "build"}, "build/out.go:1:needle\n"},
		{"end of a CRLF line", args{"pattern": "Needle$"}, "sub/deep/a_test.go:1:package deep // Needle\n"},
		{
			"context",
			args{"pattern": "needle", "path": "main.go", "context": 1.0},
			"main.go-3-func main() {\nmain.go:4:\tneedle()\nmain.go-5-}\n",
		},
		{"binary by name", args{"pattern": "needle", "path": "bin.dat"}, "no matches\n"},
		{"nothing", args{"pattern": "n33dle"}, "no matches\n"},
		{
			"limit",
			args{"pattern": "needle", "max_results": 2.0},
			".hidden:1:needle hidden\nkeep.log:1:needle kept\n" +
				"[only the first 2 matches are shown: use a narrower pattern, path or glob, or max_results]\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, good(t, "Rg", dir, tt.args), tt.want) })
	}
	bad(t, "Rg", dir, args{"pattern": "("}, "pattern is not a valid regular expression: missing closing )")
	bad(t, "Rg", dir, args{"pattern": "(", "ignore_case": true}, "missing closing )")
	bad(t, "Rg", dir, args{"pattern": "(?=x)"}, "RE2")
	bad(t, "Rg", dir, args{"pattern": "x", "glob": "[a"}, "glob")
	bad(t, "Rg", dir, args{"pattern": "x", "path": "nope"}, "nope does not exist")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"Rg", "Glob", "Ls"} {
		if _, err := named(
			t,
			name,
			Options{},
		).Execute(ctx, tool.Call{Workdir: dir, Args: args{"pattern": "needle"}}); err == nil {
			t.Errorf("%s goes on after it was cancelled", name)
		}
	}
}

func TestRgContext(t *testing.T) {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	for _, i := range []int{0, 4, 5, 12, 19} {
		lines[i] += " hit"
	}
	dir := tree(t, map[string]string{"f": strings.Join(lines, "\n"), "g": "hit\n"})
	got := good(t, "Rg", dir, args{"pattern": "hit", "context": 2.0})
	equal(t, got, `f:1:line 1 hit
f-2-line 2
f-3-line 3
f-4-line 4
f:5:line 5 hit
f:6:line 6 hit
f-7-line 7
f-8-line 8
--
f-11-line 11
f-12-line 12
f:13:line 13 hit
f-14-line 14
f-15-line 15
--
f-18-line 18
f-19-line 19
f:20:line 20 hit
--
g:1:hit
`)
	got = good(t, "Rg", dir, args{"pattern": "hit", "context": 1.0, "max_results": 1.0})
	equal(
		t,
		got,
		"f:1:line 1 hit\nf-2-line 2\n"+
			"[only the first 1 matches are shown: use a narrower pattern, path or glob, or max_results]\n",
	)
}

func TestRgLongLines(t *testing.T) {
	dir := tree(t, map[string]string{"f": strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000) + "\n"})
	got := good(t, "Rg", dir, args{"pattern": "needle"})
	contains(t, got, "f:1:...xxx", "xneedley", "yyy...\n")
	if len(got) > 400 {
		t.Errorf("%d bytes", len(got))
	}
}

// The words that are looked for first must never hide a line that matches.
func TestRequired(t *testing.T) {
	lines := []string{
		"foo",
		"bar",
		"foobar",
		"FOO",
		"task",
		"TASK",
		"ta\u017fk",
		"tas\u212a",
		"caf\u00e9",
		"CAF\u00c9",
		"",
		" ",
		"func New(",
		"func  Newer(",
		"aXb",
		"\ufffd",
		"a\xffb",
		"abab",
		"ab",
	}
	patterns := []string{
		`foo`,
		`foo|bar`,
		`(foo|bar)+`,
		`(?i)foo`,
		`(?i)task`,
		`(?i)café`,
		`\bfoo\b`,
		`^foo`,
		`foo$`,
		`fo*`,
		`fo+`,
		`(foo)?bar`,
		`f(o|O)o`,
		`func\s+New\w*\(`,
		`a.b`,
		`\x{fffd}`,
		`(ab){2}`,
		`(ab){0,2}$`,
		`(?i:f)oo`,
		`foo|`,
		`[f]oo`,
		`(?i)s|bar`,
		`x*`,
		`(?i)foo|BAR`,
		`(?:foo|(?i:bar))`,
		`\Afoo\z`,
		`^foo$`,
		`.`,
		`^$`,
	}
	for _, p := range patterns {
		for _, fold := range []bool{false, true} {
			m, err := newMatcher(p, fold)
			must(t, err)
			m.limit = 1000
			source := p
			if fold {
				source = "(?i:" + p + ")"
			}
			re := regexp.MustCompile(source)
			var want []int
			for i, line := range lines {
				if re.MatchString(line) {
					want = append(want, i+1)
				}
			}
			hits, n := m.search([]byte(strings.Join(lines, "\n")+"\n"), &scratch{})
			var got []int
			for _, h := range hits {
				got = append(got, h.line)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || n != len(want) {
				t.Errorf("%s (fold %v): lines %v, want %v", p, fold, got, want)
			}
		}
	}
}

func TestIgnoreLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("git is not installed: compared with the reference package only")
		return
	}
	dir := project(t)
	must(t, os.RemoveAll(filepath.Join(dir, ".git")))
	run := func(dir string, a ...string) string {
		cmd := exec.Command(git, a...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		must(t, err)
		return strings.TrimSpace(string(out))
	}
	run(dir, "init", "-q")
	for _, sub := range []string{".", "sub", "sub/deep"} {
		want := run(filepath.Join(dir, sub), "ls-files", "--others", "--exclude-standard")
		got := good(t, "Glob", filepath.Join(dir, sub), args{"pattern": "**"})
		equal(t, strings.Join(sorted(got), "\n"), strings.Join(sorted(want), "\n"))
	}
}

func sorted(text string) []string {
	return slices.Sorted(slices.Values(strings.Split(text, "\n")))
}

// A pattern made to take for ever is left out.
func TestHostileIgnore(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": strings.Repeat(
			"a*",
			40,
		) + "b\n**/" + strings.Repeat(
			"*a/**/",
			30,
		) + "\n" + strings.Repeat(
			"*a",
			6,
		) + "b\n" + strings.Repeat(
			"**/a*/",
			3,
		) + "**/b\n",
		strings.Repeat("a", 200):       "",
		strings.Repeat("a/", 60) + "x": "",
	})
	contains(t, good(t, "Glob", dir, args{"pattern": "**/x"}), "/x")
}

// forest is 10 000 files in 200 directories, about 10 MB.
func forest(b *testing.B) string {
	dir := b.TempDir()
	body := strings.Repeat("func helper(x int) int { return x + 1 } // ordinary line of code\n", 16)
	for d := range 200 {
		sub := filepath.Join(dir, fmt.Sprintf("pkg%d", d%20), fmt.Sprintf("sub%d", d))
		must(b, os.MkdirAll(sub, 0o755))
		for f := range 50 {
			text := body
			if f == 7 {
				text += "var NeedleInHaystack = 1\n"
			}
			must(b, os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.go", f)), []byte(text), 0o644))
		}
	}
	must(
		b,
		os.WriteFile(
			filepath.Join(dir, ".gitignore"),
			[]byte(
				"*.log\n*.tmp\n/build/\nnode_modules/\n.DS_Store\n*.swp\ndist/\n*.o\n*.a\ncoverage.*\n/bin\n"+
					"docs/_build/**\n",
			),
			0o644,
		),
	)
	return dir
}

func BenchmarkRg(b *testing.B) {
	dir := forest(b)
	for _, tt := range []struct {
		name string
		args args
	}{
		{"literal", args{"pattern": "NeedleInHaystack"}},
		{"word", args{"pattern": `\bNeedle\w+\b`}},
		{"ignore-case", args{"pattern": "needleinhaystack", "ignore_case": true}},
		{"no-literal", args{"pattern": `[A-Z][a-z]+In[A-Z]`}},
		{"worst", args{"pattern": `[A-Z]\w+[A-Z]\w+[0-9]$`}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				good(b, "Rg", dir, tt.args)
			}
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	dir := forest(b)
	for b.Loop() {
		good(b, "Glob", dir, args{"pattern": "**/f7.go"})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Options{})
	}
}
