package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
)

// HO-49: the file's part; which file is read is the command line's.
func TestLoadEnvFile(t *testing.T) {
	const src = "\ufeff# comment\r\n\nA=1\n  export B = two words # note\nC='$x #\\n'\nD=\"a\\tb\\n\\\"c\\\" " +
		"\\$D \\q\" # note\nE=\nF=#no comment\nG=\"line one\nline two\"\nH=x=y\nexport=3\nA=last\nI='tail'"
	want := map[string]string{
		"A": "last", "B": "two words", "C": `$x #\n`, "D": "a\tb\n\"c\" $D \\q", "E": "", "F": "#no comment",
		"G": "line one\nline two", "H": "x=y", "export": "3", "I": "tail",
	}
	dir := tree(
		t,
		map[string]string{
			"ok.env":  src,
			"bad.env": "A=1\nnothing\n1X=secret\nB=\"secret\nC='a' secret\nD=\"a\nb\"\n\n=x\nE=a\x00b\n",
		},
	)
	got, err := config.LoadEnvFile(filepath.Join(dir, "ok.env"), true)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}

	bad := filepath.Join(dir, "bad.env")
	_, err = config.LoadEnvFile(bad, false)
	wantErr := strings.ReplaceAll(`F:2: not KEY=value
F:3: bad variable name (letters, digits and _ only)
F:4: B: text after the closing quote
F:5: C: text after the closing quote
F:9: bad variable name (letters, digits and _ only)
F:10: E: value has a NUL byte`, "F:", bad+":")
	if fmt.Sprint(err) != wantErr || strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("got\n%v\nwant\n%s", err, wantErr)
	}
	if err := os.WriteFile(bad, []byte("A='open\nB=2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = config.LoadEnvFile(bad, true); fmt.Sprint(err) != bad+":1: A: quote is not closed" {
		t.Errorf("got %v", err)
	}

	none := filepath.Join(dir, "none.env")
	if got, err := config.LoadEnvFile(none, false); got != nil || err != nil {
		t.Errorf("missing: %v, %v", got, err)
	}
	if _, err := config.LoadEnvFile(none, true); err == nil || !strings.HasPrefix(err.Error(), none+": ") {
		t.Errorf("missing but required: %v", err)
	}
	if _, err := config.LoadEnvFile(dir, false); err == nil {
		t.Error("directory: no error")
	}
}

func FuzzEnvFile(f *testing.F) {
	for _, s := range []string{"A=1", "export A='b\nc' # d", "A=\"\\", "=\n=", "A='", "# x\n\nB=2 #"} {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "f.env")
	f.Fuzz(func(t *testing.T, src string) {
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		vars, err := config.LoadEnvFile(path, true)
		if err != nil {
			return
		}
		// Written back in double quotes, everything reads the same.
		var b strings.Builder
		for key, value := range vars {
			value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", `\r`).Replace(value)
			fmt.Fprintf(&b, "%s=\"%s\"\n", key, value)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := config.LoadEnvFile(path, true); err != nil || !reflect.DeepEqual(again, vars) {
			t.Fatalf("%q: %q, %v", vars, again, err)
		}
	})
}

// HO-03
func TestFindHomes(t *testing.T) {
	base := tree(t, map[string]string{
		"home/.aura/config/x":   "",
		"home/repo/.git/HEAD":   "",
		"home/repo/.aura/x":     "",
		"home/repo/a/b/x":       "",
		"home/repo/own/.aura/x": "",
		"home/plain/.aura/x":    "",
		"home/plain/sub/x":      "",
		"home/tree/.git":        "gitdir: x",
		"home/tree/sub/x":       "",
		"extra/x":               "",
	})
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(base, filepath.FromSlash(path)) }
	home := at("home")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(home) // What flags name is looked for from here.
	empty, other := "", "g"
	global := at("home/.aura")
	for _, tt := range []struct {
		name string
		in   config.HomeOptions
		want config.Homes
		err  string
	}{
		{
			"in the working directory", config.HomeOptions{Workdir: at("home/repo/own")},
			config.Homes{Global: global, Projects: []string{at("home/repo/own/.aura")}}, "",
		},
		{
			"in a parent up to the git root", config.HomeOptions{Workdir: at("home/repo/a/b")},
			config.Homes{Global: global, Projects: []string{at("home/repo/.aura")}}, "",
		},
		{"no parents outside git", config.HomeOptions{Workdir: at("home/plain/sub")}, config.Homes{Global: global}, ""},
		{"not above the git root", config.HomeOptions{Workdir: at("home/tree/sub")}, config.Homes{Global: global}, ""},
		{"the global home is no project", config.HomeOptions{Workdir: home}, config.Homes{Global: global}, ""},
		{
			"no global home", config.HomeOptions{Workdir: at("home/plain"), Home: &empty},
			config.Homes{Projects: []string{at("home/plain/.aura")}}, "",
		},
		{
			"other global home",
			config.HomeOptions{Workdir: at("home/plain"), Home: &other, Config: []string{at("extra")}},
			config.Homes{Global: at("home/g"), Projects: []string{at("extra")}}, "",
		},
		{
			"several, each once",
			config.HomeOptions{
				Workdir: at("home/plain"), Config: []string{"plain/.aura", at("extra"), "./plain/.aura", global},
			},
			config.Homes{Global: global, Projects: []string{at("home/plain/.aura"), at("extra")}}, "",
		},
		{
			"missing", config.HomeOptions{Workdir: base, Config: []string{"nope"}}, config.Homes{},
			"--config nope: no such directory (create it with `aura init --dir nope`)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.FindHomes(tt.in)
			if (err == nil) != (tt.err == "") || (err != nil && err.Error() != tt.err) {
				t.Fatalf("error %v", err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if h := (config.Homes{Global: "g"}); h.Last() != "g" || len(h.All()) != 1 {
		t.Error("only global")
	}
	if h := (config.Homes{Global: "g", Projects: []string{"a", "b"}}); h.Last() != "b" ||
		strings.Join(h.All(), "") != "gab" {
		t.Error("all")
	}
}
