package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// snippet is a code block of a Markdown page that says into which file it goes: the
// line before it names a path that begins with a dot.
var snippet = regexp.MustCompile("(?m)^.*`(\\.[a-z]+/[^`]+)`.*\n\n```[a-z]*\n((?s:.*?))^```$")

// cmdSnippets writes the code blocks of a page of the repository into the project.
func cmdSnippets(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snippets PAGE")
	}
	page, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(args[0])))
	ts.Check(err)
	found := snippet.FindAllSubmatch(page, -1)
	if len(found) == 0 {
		ts.Fatalf("%s has no code blocks that say where they go", args[0])
	}
	var names []string
	for _, m := range found {
		file := ts.MkAbs(string(m[1]))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, m[2], 0o644))
		names = append(names, string(m[1]))
	}
	ts.Logf("wrote %s", strings.Join(names, ", "))
}
