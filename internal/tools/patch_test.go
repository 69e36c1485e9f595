package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// patchOf puts the lines of a patch into its frame.
func patchOf(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

func TestPatchUpdate(t *testing.T) {
	const code = "package a\n\nfunc A() {\n\treturn 1\n}\n\nfunc B() {\n\treturn 1\n}\n"
	tests := []struct{ name, before, patch, after string }{
		{"one change", "a\nb\nc\n", "@@\n a\n-b\n+x\n c", "a\nx\nc\n"},
		{"no @@", "a\nb\nc\n", " a\n-b\n+x", "a\nx\nc\n"},
		{"several changes", "a\nb\nc\nd\ne\n", "@@\n-a\n+x\n@@\n-e\n+y\n+z", "x\nb\nc\nd\ny\nz\n"},
		{
			"anchor",
			code,
			"@@ func B() {\n-\treturn 1\n+\treturn 2",
			strings.Replace(code, "B() {\n\treturn 1", "B() {\n\treturn 2", 1),
		},
		{
			"two anchors",
			"class A\n def x\n  1\nclass B\n def x\n  1\n",
			"@@ class B\n@@ def x\n-  1\n+  2",
			"class A\n def x\n  1\nclass B\n def x\n  2\n",
		},
		{
			"anchor without context",
			code,
			"@@ func B() {\n+\t// new",
			strings.Replace(code, "B() {\n", "B() {\n\t// new\n", 1),
		},
		{"header of a unified diff", "a\nb\n", "@@ -1,2 +1,2 @@ func x\n a\n-b\n+c", "a\nc\n"},
		{"anchor closed with @@", "a\nb\n", "@@ a @@\n-b\n+c", "a\nc\n"},
		{"append", "a\n", "@@\n+b", "a\nb\n"},
		{"append to an empty file", "", "+b", "b\n"},
		{"end of file", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"},
		{"empty context line without its space", "a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n"},
		{"insert between", "a\nb\n", "@@\n a\n+x\n b", "a\nx\nb\n"},
		{"delete all lines", "a\nb\n", "-a\n-b", ""},
		{"CRLF stays", "a\r\nb\r\n", "@@\n a\n-b\n+x\n+y", "a\r\nx\r\ny\r\n"},
		{"mixed ends stay", "a\nb\r\nc\n", "@@\n a\n+x", "a\nx\nb\r\nc\n"},
		{"BOM stays", "\ufeffa\nb\n", "-a\n+x", "\ufeffx\nb\n"},
		{"no newline at the end stays", "a\nb", "@@\n a\n-b\n+x", "a\nx"},
		{"append without newline at the end", "a", "+b", "a\nb"},
		{"file that ends in blank lines", "a\n\n", "@@\n-a\n+b\n\n*** End of File", "b\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"f": tt.before})
			report := good(t, "Patch", dir, args{"patch": patchOf("*** Update File: f", tt.patch)})
			if got := content(t, dir, "f"); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
			if strings.Contains(report, "differ") {
				t.Errorf("inexact match reported: %s", report)
			}
		})
	}
}

// Lines that are only alike are taken, and the result says so.
func TestPatchTolerance(t *testing.T) {
	tests := []struct{ name, before, patch, after, note string }{
		{"blanks at the end", "a  \nb\n", " a\n-b\n+c", "a  \nc\n", "differ from the patch in blanks at the end"},
		{"indentation", "\ta\n\tb\n", " a\n-b\n+\tc", "\ta\n\tc\n", "differ from the patch in blanks"},
		{"punctuation", "say “hi” – now\nb\n", " say \"hi\" - now\n-b\n+c", "say “hi” – now\nc\n", "punctuation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"f": tt.before})
			report := good(t, "Patch", dir, args{"patch": patchOf("*** Update File: f", "@@", tt.patch)})
			equal(t, content(t, dir, "f"), tt.after)
			contains(t, report, "updated f (+1 -1)\n  change 1 was applied at line 1", tt.note)
		})
	}
}

// HO-38: several files in one patch, in the frames that models put around it.
func TestPatchFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1\n", "b": "1\n", "gone": "x", "from": "1\n2\n"})
	patch := patchOf(
		"*** Update File: a",
		"-1",
		"+2",
		"*** Add File: new/dir/c",
		"+x",
		"+",
		"+y",
		"*** Delete File: gone",
		"*** Update File: from",
		"*** Move to: to/there",
		"@@",
		" 1",
		"-2",
		"+3",
		"*** Update File: a",
		"-2",
		"+3",
		"*** Update File: b",
		"*** Move to: c",
	)
	report := good(t, "Patch", dir, args{"patch": "```\n" + strings.ReplaceAll(patch, "\n", "\r\n") + "```\n"})
	equal(
		t,
		report,
		"updated a (+1 -1)\nadded new/dir/c (3 lines)\ndeleted gone\nmoved from to to/there (+1 -1)\n"+
			"updated a (+1 -1)\nmoved b to c (+0 -0)",
	)
	equal(t, content(t, dir, "a"), "3\n")
	equal(t, content(t, dir, "new/dir/c"), "x\n\ny\n")
	equal(t, content(t, dir, "to/there"), "1\n3\n")
	equal(t, content(t, dir, "c"), "1\n")
	for _, name := range []string{"gone", "from", "b"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	good(t, "Patch", dir, args{"patch": patchOf("*** Delete File: a", "*** Add File: a", "+again")})
	equal(t, content(t, dir, "a"), "again\n")
	good(t, "Patch", dir, args{"patch": patchOf("*** Add File: empty")})
	equal(t, content(t, dir, "empty"), "")
}

func TestPatchErrors(t *testing.T) {
	files := map[string]string{"f": "a\nb\nc\nd\na\nb\n", "g": "x\n", "sub/": ""}
	tests := []struct{ name, patch, want string }{
		{"no beginning", "*** Update File: f", `"*** Begin Patch" is missing`},
		{"no end", "*** Begin Patch\n*** Delete File: f", `"*** End Patch" is missing`},
		{"empty", patchOf(), "patch is empty"},
		{"nonsense", patchOf("hello"), `patch line 2: expected *** Add File:`},
		{"no path", patchOf("*** Delete File: "), "needs a path"},
		{"no changes", patchOf("*** Update File: f"), "the update of f has no changes"},
		{"only context", patchOf("*** Update File: f", "@@", " a"), "change 1 has no line that begins with - or +"},
		{"bad line", patchOf("*** Update File: f", "@@", "a"), "patch line 4: a line of an update begins with"},
		{
			"bad line in a new file",
			patchOf("*** Add File: n", "+a", "b"),
			"patch line 4: every line of a new file begins with +",
		},
		{
			"blank line in a new file",
			patchOf("*** Add File: n", "+a", "", "+b"),
			"patch line 4: every line of a new file begins with +, also an empty one",
		},
		{"not found", patchOf("*** Update File: f", "@@", "-zzz", "+y"), `f: change 1: line "zzz" was not found`},
		{
			"which line",
			patchOf("*** Update File: f", "@@", " c", "-x", "+y"),
			`f: change 1 fits from line 3 to line 3; after that the patch has "x" and the file has "d"`,
		},
		{
			"past the end",
			patchOf("*** Update File: f", "@@", " d", " a", " b", "-c"),
			`fits from line 4 to line 6; after that the patch has "c" and the file ends`,
		},
		{"second change", patchOf("*** Update File: f", "@@", "-c", "+x", "@@", "-zzz"), "change 2"},
		{
			"order",
			patchOf("*** Update File: f", "@@", "-d", "+x", "@@", "-c"),
			"change 2 was found only before line 5: put the changes in the order of the file",
		},
		{"ambiguous", patchOf("*** Update File: f", "@@", "-b", "+x"), "change 1 fits 2 places (lines 2, 6)"},
		{"anchor", patchOf("*** Update File: f", "@@ zzz", "-b"), `the line after @@ was not found: "zzz"`},
		{"not at the end", patchOf("*** Update File: f", "@@", "-c", "*** End of File"), "not the last of the file"},
		{"missing", patchOf("*** Update File: ff", "-a"), "ff does not exist"},
		{"delete missing", patchOf("*** Delete File: h"), "h does not exist"},
		{"delete directory", patchOf("*** Delete File: sub"), "sub is a directory"},
		{"add existing", patchOf("*** Add File: f", "+x"), "it exists already"},
		{"add below a file", patchOf("*** Add File: f/x", "+x"), "f/x"},
		{"move onto a file", patchOf("*** Update File: f", "*** Move to: g"), "cannot move to g, it exists already"},
		{"all problems", patchOf("*** Update File: f", "-zzz", "*** Delete File: h"), "h does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, files)
			// A change that would work, in front: nothing of it may stay.
			patch := strings.Replace(
				tt.patch,
				"*** Begin Patch\n",
				"*** Begin Patch\n*** Add File: made/first\n+x\n*** Update File: g\n-x\n+y\n",
				1,
			)
			bad(t, "Patch", dir, args{"patch": tt.patch}, tt.want)
			if _, err := use(t, "Patch", dir, args{"patch": patch}); err == nil && tt.name != "empty" {
				t.Error("succeeded behind a good change")
			}
			if tt.name == "empty" {
				return
			}
			equal(t, content(t, dir, "f"), files["f"])
			equal(t, content(t, dir, "g"), files["g"])
			if _, err := os.Lstat(filepath.Join(dir, "made")); err == nil {
				t.Error("a part of the patch was applied")
			}
		})
	}
}

// A failure while writing puts back what was written before it.
func TestPatchRollback(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1\n", "gone": "x\n"})
	must(t, os.Chmod(filepath.Join(dir, "a"), 0o640))
	// That new/b is no directory shows only when new/b/c is written.
	patch := patchOf(
		"*** Update File: a",
		"-1",
		"+2",
		"*** Delete File: gone",
		"*** Add File: new/b",
		"+x",
		"*** Add File: new/b/c",
		"+x",
	)
	bad(t, "Patch", dir, args{"patch": patch}, "nothing was changed")
	equal(t, content(t, dir, "a"), "1\n")
	equal(t, content(t, dir, "gone"), "x\n")
	info, err := os.Stat(filepath.Join(dir, "a"))
	must(t, err)
	if info.Mode().Perm() != 0o640 && os.PathSeparator == '/' {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("the new directory is still there")
	}
}

// Files and patches of equal lines end in an error, not in a wait.
func TestPatchIsBounded(t *testing.T) {
	same := strings.Repeat("a\n", 200_000)
	lines := strings.Repeat(" a\n", 100_000)
	dir := tree(t, map[string]string{"f": same})
	bad(
		t,
		"Patch",
		dir,
		args{"patch": patchOf("*** Update File: f", "@@", lines+"-b")},
		"too many lines that are alike",
	)
	bad(
		t,
		"Patch",
		dir,
		args{"patch": "*** Begin Patch\n*** Update File: f\n" + strings.Repeat("\n", 300_000) + "x"},
		"begins with a space",
	)
}

func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc\n", patchOf("*** Update File: f", "@@ a", " b", "-c", "+d", "*** End of File"))
	f.Add(
		"\ufeffa\r\n",
		patchOf("*** Update File: f", "*** Move to: g", "-a", "+b", "*** Add File: x", "+", "*** Delete File: y"),
	)
	f.Add("", patchOf("*** Update File: f", "@@", "+x"))
	f.Fuzz(func(t *testing.T, before, patch string) {
		changes, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, c := range changes {
			if c.path == "" {
				t.Fatal("a change without a path")
			}
			after, _, err := applyHunks(before, c.hunks)
			if err != nil || c.kind != updateFile {
				continue
			}
			added, removed := c.counts()
			if got, want := len(fileLines(after)), len(fileLines(before))+added-removed; got > want {
				t.Fatalf("%d lines, want at most %d", got, want)
			}
		}
	})
}
