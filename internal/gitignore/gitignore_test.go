package gitignore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	reference "github.com/idelchi/go-gitignore"

	"github.com/idelchi/aura/internal/gitignore"
)

// The rules are read as the reference package reads them, and as git does.
func TestIgnore(t *testing.T) {
	paths := []string{
		"a.log",
		"keep.log",
		"build",
		"build/x",
		"sub/build",
		"docs/a.txt",
		"docs/sub/a.txt",
		"x/y/z",
		"foo",
		"foo/bar",
		"a b",
		"a b ",
		"#x",
		"!x",
		"[x]",
		"tmp",
		"tmp/a",
		"x.tmp",
		"deep/er/x.tmp",
		"é",
	}
	sets := [][]string{
		{
			"*.log",
			"!keep.log",
		},
		{"/build"},
		{"build/"},
		{"docs/*.txt"},
		{"docs/**/*.txt"},
		{"**/z"},
		{"x/**"},
		{"/foo", "!foo"},
		{"foo/*", "!foo/bar"},
		{
			`a\ b`,
			`a b\ `,
		},
		{`\#x`, "#y"},
		{`\!x`},
		{`\[x\]`},
		{"[a-z].log"},
		{"*"},
		{"*", "!*.tmp"},
		{"tmp/", "!tmp/a"},
		{"x.tmp  "},
		{"?"},
		{"**"},
		{"/**/x.tmp"},
		{"!"},
		{"/"},
		{"deep/er"},
	}
	for _, set := range sets {
		git := reference.New(set...)
		dir := t.TempDir()
		file := filepath.Join(dir, ".gitignore")
		if err := os.WriteFile(file, []byte(strings.Join(set, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		ig := (*gitignore.Rules)(nil).With(file, "")
		for _, path := range paths {
			for _, isDir := range []bool{false, true} {
				// As in a walk: what is below an ignored directory is never asked about.
				got, parts := false, strings.Split(path, "/")
				for i := range parts {
					if got = ig.Ignores(strings.Join(parts[:i+1], "/"), i < len(parts)-1 || isDir); got {
						break
					}
				}
				if want := git.Ignored(path, isDir); got != want {
					t.Errorf("%q: %s (directory %v) ignored %v, want %v", set, path, isDir, got, want)
				}
			}
		}
	}
}
