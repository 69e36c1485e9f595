package commands

import (
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) { // HO-05
	for _, tt := range []struct{ body, args, want, err string }{
		{body: "Do it.", want: "Do it."},
		{body: "Do it.", args: "  now  ", want: "Do it.\n\nnow"},
		{body: "$1-$2-$3", args: "a b", want: "a-b-"},
		{body: "$2$1", args: `"a b" c`, want: "ca b"},
		{body: "all: $ARGUMENTS!", args: `"a  b" c`, want: `all: "a  b" c!`},
		{body: "$10", args: "1 2 3 4 5 6 7 8 9 ten", want: "ten"},
		{body: "$1st", args: "a", want: "ast"},
		{body: `\$1 \$ARGUMENTS $1`, args: "a", want: "$1 $ARGUMENTS a"},
		{body: `\n \\ $ $$ $0 $x ${1} $ARGUMENTSx`, want: `\n \\ $ $$ $0 $x ${1} $ARGUMENTSx`},
		{body: "$99999999999999999999", args: "a", want: "$99999999999999999999\n\na"},
		{body: "$1", args: "$2 b", want: "$2"},
		{body: "$1 $2", args: `don't "say \"hi\""`, want: `don't say "hi"`},
		{body: "$1", args: `"open`, err: "quote is not closed"},
		{body: "$ARGUMENTS", args: `"open`, want: `"open`},
	} {
		got, err := expand(tt.body, tt.args)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q with %q: %v", tt.body, tt.args, err)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%q with %q: got %q %v, want %q", tt.body, tt.args, got, err, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	for args, want := range map[string][]string{
		"":                 nil,
		" a\tb\nc ":        {"a", "b", "c"},
		`a "" b`:           {"a", "", "b"},
		`pre"a b"post "c"`: {"prea bpost", "c"},
		`"a\\b" c\d "\n"`:  {`a\b`, `c\d`, `\n`},
		"grüße ü":          {"grüße", "ü"},
	} {
		if got, err := words(args); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q %v, want %q", args, got, err, want)
		}
	}
}

// HO-56: the earlier list has the name, whatever its case.
func TestMerge(t *testing.T) {
	all, hidden := Merge([]Command{{Name: "a"}, {Name: "b"}}, []Command{{Name: "B", Source: "x"}, {Name: "c"}})
	if len(all) != 3 || all[1].Source != "" || len(hidden) != 1 || hidden[0].Source != "x" {
		t.Errorf("%v %v", all, hidden)
	}
}

// Words never lose or invent text: quoted again, they split into the same words.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "a b", `"a b" c`, `a"b"`, `"\"`, `"\\" x`, "\x00 \xff", `'a b'`, `""`} {
		f.Add(s, "$1 $ARGUMENTS")
	}
	f.Fuzz(func(t *testing.T, args, body string) {
		list, err := words(args)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range list {
			quoted = append(quoted, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w)+`"`)
		}
		again, err := words(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(list, again) {
			t.Fatalf("%q: %q, then %q %v", args, list, again, err)
		}
		if text, err := expand(
			body,
			args,
		); err != nil ||
			!strings.Contains(body, "$") && !strings.HasPrefix(text, body) {
			t.Fatalf("%q with %q: %q %v", body, args, text, err)
		}
	})
}
