package commands

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every example of /assert and /until in the page and in /help can be typed.
func TestExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(page) + "\n" + assertDetails + "\n" + untilDetails) {
		name, args, ok := Parse(line)
		if !ok || strings.HasPrefix(args, "[") {
			continue
		}
		switch name {
		case "until":
			if _, args, err = cutMax(args); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			fallthrough
		case "assert":
			n++
			if _, err := parseTest(args); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d examples found", n)
	}
}

func FuzzSplitActions(f *testing.F) {
	for _, s := range []string{
		`todo_empty "/auto on"`, `not a and b "x" "y"`, `bash:"a \"b\"" "c"`, `"`, `a"`, `"\`, `"\\"`, `a "b"c`, `a "b" c`, "a\t\"b\"\n", `""`, `'a' "ü"`, "\x00\xff \"\xff\"",
	} {
		f.Add(s)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, s string) {
		before, actions, err := splitActions(s)
		if err != nil {
			return
		}
		if len(before) > len(s) || strings.Trim(before, blanks) != before {
			t.Errorf("splitActions(%q): before = %q", s, before)
		}
		again := "c"
		for _, a := range actions {
			if strings.TrimSpace(a) == "" {
				t.Errorf("splitActions(%q): blank action", s)
			}
			again += ` "` + quote.Replace(a) + `"`
		}
		if b, list, err := splitActions(again); err != nil || b != "c" || !slices.Equal(list, actions) {
			t.Errorf("splitActions(%q) = %q, %q, %v", again, b, list, err)
		}
	})
}
