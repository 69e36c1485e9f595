package skills_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/tool"
)

// tree writes files below a new directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, file, src string
		lenient         bool
		want            string // Name | description | tools
		warning, err    string
	}{
		{name: "all", file: "s/x.md", src: "---\nname: pdf\ndescription: |\n  Two\n  lines\n" +
			"allowed-tools: [Read, Bash]\n---\nBody", want: "pdf|Two\nlines|Read,Bash"},
		{name: "no frontmatter", file: "s/notes.md", src: "# Take notes\n\nText", want: "notes|Take notes|"},
		{name: "directory", file: "s/pdf/SKILL.md", src: "---\ndescription: d\n---\nBody", want: "pdf|d|"},
		{
			name: "byte order mark and CRLF", file: "s/x.md", src: "\xef\xbb\xbf---\r\nname: a\r\n---\r\nBody\r\n",
			want: "a|Body|",
		},
		{
			name: "tools by blanks", file: "s/x.md", src: "---\nallowed-tools: Read Bash(git:*) Edit\n---\nB",
			want: "x|B|Read,Bash(git:*),Edit",
		},
		{
			name: "tools by commas", file: "s/x.md", src: "---\nallowed-tools: Read, Bash(git add *), Edit\n---\nB",
			want: "x|B|Read,Bash(git add *),Edit",
		},
		{name: "colon in a value", file: "s/x.md", src: "---\nname: a\ndescription: Use it when: it's " +
			"\"needed\"\n---\nB", want: "a|Use it when: it's \"needed\"|"},
		{
			name: "foreign keys", file: "s/x.md", src: "---\nmodel: opus\ncompatibility: any\nversion: 1.0\n---\nB",
			want: "x|B|",
		},
		{name: "unknown key", file: "s/x.md", src: "---\nallowed_tools: Read\n---\nB", want: "x|B|", warning: `s/x.md: allowed_tools: unknown key (did you mean "allowed-tools"?)`},
		{
			name: "unknown key elsewhere", file: "s/x.md", src: "---\nallowed_tools: Read\n---\nB", lenient: true,
			want: "x|B|",
		},
		{name: "open", file: "s/x.md", src: "---\nname: a\n", err: "s/x.md:1: frontmatter is not closed"},
		{name: "yaml", file: "s/x.md", src: "---\nname: {\n---\nB", err: "s/x.md:3: invalid YAML"},
		{name: "duplicate", file: "s/x.md", src: "---\nname: a\nname: b\n---\nB", err: "s/x.md:3: name: duplicate key"},
		{name: "list", file: "s/x.md", src: "---\n- a\n---\nB", err: "want a mapping"},
		{
			name: "types", file: "s/x.md", src: "---\nname: [a]\nmetadata: 7\nallowed-tools: {a: b}\n---\nB",
			err: "metadata: want a mapping",
		},
		{name: "empty", file: "s/x.md", src: "---\nname: a\n---\n\n", err: "skill has no text"},
		{name: "binary", file: "s/x.md", src: "\xff\xfe", err: "not UTF-8"},
		{name: "odd name", file: "s/x.md", src: "---\nname: \"a\\nb\"\n---\nB", err: "is not a name of up to 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, warnings, err := skills.Parse(tt.file, []byte(tt.src), tt.lenient)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Name + "|" + s.Description + "|" + strings.Join(s.Tools, ","); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := fmt.Sprint(
				warnings,
			); tt.warning == "" && len(warnings) > 0 ||
				!strings.Contains(got, tt.warning) {
				t.Errorf("warnings: %s", got)
			}
		})
	}
}

func TestFind(t *testing.T) {
	global := tree(t, map[string]string{
		"a.md":           "---\ndescription: global\n---\nA",
		"deep/down/b.md": "B",
	})
	project := tree(t, map[string]string{
		"A.md":                        "---\ndescription: project\n---\nA",
		"kit/skill.md":                "---\ndescription: kit\n---\nKit",
		"kit/ref/more.md":             "more",
		"kit/scripts/run.sh":          "true",
		"kit/.git/HEAD":               "x",
		"kit/node_modules/x/SKILL.md": "x",
		"README.md":                   "no skill",
		"x.example.md":                "no skill",
		".hidden.md":                  "no skill",
		"notes.txt":                   "no skill",
	})
	if err := os.Symlink(project, filepath.Join(project, "circle")); err != nil {
		t.Log("no symbolic links here:", err)
	}
	list, problems := skills.Find([]skills.Place{
		{Name: "global", Dir: global}, {Name: "gone", Dir: filepath.Join(global, "nothing")},
		{Name: "project", Dir: project}, {Name: "again", Dir: project},
	})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	var got []string
	for _, s := range list {
		got = append(got, s.Name+" "+s.Source+" "+s.Description+" "+strings.Join(s.Files, ","))
	}
	want := []string{"A project project ", "b global B ", "kit project kit ref/more.md,scripts/run.sh"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	// In a place of another program only the layout with directories counts.
	list, _ = skills.Find([]skills.Place{{Name: ".claude", Dir: project, Foreign: true}})
	if len(list) != 1 || list[0].Name != "kit" {
		t.Errorf("got %v", list)
	}
}

// The list in the description of the tool stays small however many skills there are.
func TestToolIsBounded(t *testing.T) {
	var list []skills.Skill
	for i := range 1000 {
		list = append(
			list,
			skills.Skill{Name: fmt.Sprintf("skill-%d", i), Description: strings.Repeat("ü", 1000), Body: "x"},
		)
	}
	tl, ok := skills.Tool(list)
	if !ok || len(tl.Description) > 20<<10 || !utf8.ValidString(tl.Description) {
		t.Fatalf("%v %d bytes", ok, len(tl.Description))
	}
	for _, want := range []string{"\n- skill-0: ü", "…", "\n- skill-200\n", " more"} {
		if !strings.Contains(tl.Description, want) {
			t.Errorf("no %q", want)
		}
	}
	// What is not listed can be fetched all the same.
	r, err := tl.Execute(t.Context(), tool.Call{Args: map[string]any{"name": "skill-999"}})
	if err != nil || !strings.HasSuffix(r.Text, "\n\nx") {
		t.Errorf("%q %v", r.Text, err)
	}
	if _, ok := skills.Tool([]skills.Skill{{Name: "a", Manual: true}}); ok {
		t.Error("a tool for nothing")
	}
}

func TestTooLarge(t *testing.T) {
	dir := tree(t, map[string]string{"big.md": strings.Repeat("x", 1<<20+1), "ok.md": "fine"})
	list, problems := skills.Find([]skills.Place{{Name: "p", Dir: dir}})
	if len(list) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "big.md: larger than 1024 KiB") {
		t.Errorf("%v %v", list, problems)
	}
}

// Whatever a file holds: no panic, and a skill that can be used or an error that
// names the file.
func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"---\nname: a\ndescription: b: c\nallowed-tools: A(b c), D\nmetadata: {a: 1}\n---\nBody",
		"---\n- a\n---\n", "---\n---\n", "---\nname: &a [*a]\n---\nx", "---\nx: 'y\n---\nz",
		"\xef\xbb\xbf---\r\na: |\r\n  b\r\n---\r\nc", "# x", "",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, _, err := skills.Parse("dir/x.md", src, false)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "dir/x.md") {
				t.Fatalf("error without its file: %v", err)
			}
			return
		}
		if s.Name == "" || s.Body == "" || s.Description == "" || !utf8.ValidString(s.Text()) {
			t.Fatalf("not usable: %+v", s)
		}
	})
}
