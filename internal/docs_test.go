package internal_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
)

var update = flag.Bool("update", false, "write generated parts of the documentation anew")

// momentsTable is the table of moments for readers.
func momentsTable() string {
	var b strings.Builder
	b.WriteString("| moment | when | Go plugin | Python | hook `event:` | a handler may |\n|---|---|---|---|---|---|\n")
	for _, row := range lifecycle.Moments() {
		hook := "-"
		if row.Hook != "" {
			hook = "`" + row.Hook + "`"
		}
		var events []string
		for _, e := range row.Events {
			events = append(events, e.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s | %s |\n", row.Moment, row.When, row.Function,
			strings.Join(events, "`, `"), hook, cmp.Or(strings.Join(row.May.Names(), ", "), "observe"))
	}
	return b.String()
}

// generated compares the part of a page between the marks of that name with what it
// should be, or writes it with -update, and returns the page.
func generated(t *testing.T, file, mark, want string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s)(<!-- ` + mark + `:[^\n]*-->\n)(.*)(<!-- /` + mark + ` -->)`).
		FindStringSubmatch(string(text))
	if parts == nil {
		t.Fatalf("%s: the marks of the table are gone", file)
	}
	if parts[2] == want {
		return string(text)
	}
	if !*update {
		t.Fatalf("%s: the table is out of date: run `go test ./internal -run %s -update`", file, t.Name())
	}
	page := strings.Replace(string(text), parts[2]+parts[3], want+parts[3], 1)
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return page
}

// The tables in docs/lifecycle.md say what the code says.
func TestLifecycleTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "docs", "lifecycle.md")
	text := generated(t, file, "moments", momentsTable())
	for _, row := range lifecycle.Moments() {
		for _, power := range row.May.Names() {
			if !strings.Contains(text, "| "+power+" | ") {
				t.Errorf("%s does not explain the power %q", file, power)
			}
		}
	}
	for _, v := range []lifecycle.Verdict{lifecycle.Passed, lifecycle.Spoke, lifecycle.Changed, lifecycle.Blocked,
		lifecycle.Asked, lifecycle.Allowed,
		lifecycle.Failed, lifecycle.Panicked, lifecycle.TimedOut} {
		if !strings.Contains(text, "| `"+string(v)+"` |") {
			t.Errorf("%s does not explain the verdict %q", file, v)
		}
	}
}

// Links between the pages lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, filepath.Join("..", "README.md"), filepath.Join("..", "ARCHITECTURE.md"),
		filepath.Join("..", "CONTRIBUTING.md"))
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)\s]*)?\)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", filepath.Base(page), m[1])
			}
		}
	}
}
