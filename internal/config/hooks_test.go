package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/config"
)

// loadHooks loads files of hooks from one project home.
func loadHooks(t *testing.T, files map[string]string) (config.Hooks, error) {
	t.Helper()
	named := map[string]string{}
	for name, text := range files {
		named["config/hooks/"+name] = text
	}
	c, err := config.Load(config.Homes{Projects: []string{tree(t, named)}})
	if err != nil {
		return nil, err
	}
	return c.Hooks, nil
}

// goChain is the example of the hook documentation, as printed.
const goChain = `# .aura/config/hooks/go.yaml

go:format:
  event: post
  matcher: "Patch|Write"
  files: "*.go"
  silent: true
  command: golangci-lint fmt $FILE
  timeout: 15

go:fix:
  inherit: [go:format]
  depends: [go:format]
  command: |
    golangci-lint run --fix $FILE
    for f in $FILE; do
      while gopls codeaction -kind=quickfix -exec -write $f 2>/dev/null; do :; done
      gopls codeaction -kind=source.organizeImports -exec -write $f 2>/dev/null
    done
  timeout: 30

go:lint:
  inherit: [go:format]
  depends: [go:fix]
  silent: false
  command: golangci-lint run $FILE
`

// HK-02 HK-03 HK-14 HK-58 HK-59 HK-83
func TestHookChain(t *testing.T) {
	hks, err := loadHooks(t, map[string]string{
		"sub/odd.name.yaml": goChain,
		"a.example.yaml":    "nonsense: [",
		"validate.yaml": "validate-bash:\n  event: pre\n  matcher: \"Bash\"\n" +
			"  command: .aura/hooks/validate-bash.sh\n  timeout: 5\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(hks) != 4 || hks["validate-bash"].Timeout != 5*time.Second {
		t.Errorf("hooks: %v", hks)
	}
	fix, lint := hks["go:fix"], hks["go:lint"]
	for _, h := range []config.Hook{fix, lint} {
		if h.Event != "post" || h.Matcher != "Patch|Write" || h.Files != "*.go" {
			t.Errorf("inherited: %+v", h)
		}
	}
	if !fix.Silent || fix.Timeout != 30*time.Second || strings.Count(fix.Command, "\n") != 5 {
		t.Errorf("go:fix: %+v", fix)
	}
	if lint.Silent || lint.Timeout != 15*time.Second || lint.Source.Line != 22 {
		t.Errorf("go:lint: %+v", lint)
	}
	order, err := hks.Sort("post")
	if err != nil || strings.Join(order, " ") != "go:format go:fix go:lint" {
		t.Errorf("order %v, %v", order, err)
	}
}

// Inheritance: HK-18 HK-20 HK-60 HK-61 HK-63 HK-65, and HK-59 for every kind of zero value.
func TestHookInherit(t *testing.T) {
	hks, err := loadHooks(t, map[string]string{"h.yaml": `
a: {description: d, event: pre, matcher: M, files: F, command: c, timeout: 7, depends: [z], silent: true, disabled: true, env: [X]}
b: {event: post, timeout: 8}
z: {event: pre, command: z}
absent: {inherit: [a]}
on: {inherit: [a], disabled: false}
off: {inherit: [a], disabled: true}
both: {inherit: [a, b], disabled: true}
deep: {inherit: [absent], disabled: false}
zero: {inherit: [a], disabled: false, description: "", matcher: "", files: "", timeout: 0, depends: [], silent: false, env: []}
gate: {inherit: [zero], on_failure: block}
b2: {inherit: [b], command: x, event: pre}
`})
	if err == nil || !strings.Contains(err.Error(), "b.command: missing") {
		t.Fatalf("a hook without a command: %v, %v", hks, err)
	}
	hks, err = loadHooks(t, map[string]string{"h.yaml": `
a: {description: d, event: pre, matcher: M, files: F, command: c, timeout: 7, depends: [z], silent: true, disabled: true, env: [X]}
b: {event: post, timeout: 8, disabled: true}
z: {event: pre, command: z}
absent: {inherit: [a]}
on: {inherit: [a], disabled: false}
both: {inherit: [a, b], depends: []}
deep: {inherit: [absent], disabled: false}
zero: {inherit: [a], disabled: false, description: "", matcher: "", files: "", timeout: 0, depends: [], silent: false, env: []}
gate: {inherit: [zero], on_failure: block}
`})
	if err != nil {
		t.Fatal(err)
	}
	for name, enabled := range map[string]bool{
		"a": false, "absent": false, "on": true, "both": false, "deep": true, "zero": true,
	} {
		if hks[name].Enabled() != enabled {
			t.Errorf("%s: enabled %v", name, !enabled)
		}
	}
	same := func(h config.Hook) config.Hook {
		h.Name, h.Inherit, h.Source, h.Disabled = "", nil, config.Source{}, nil
		return h
	}
	if got, want := same(hks["deep"]), same(hks["a"]); !reflect.DeepEqual(got, want) {
		t.Errorf("deep: %+v, want %+v", got, want)
	}
	if h := hks["both"]; h.Event != "post" || h.Timeout != 8*time.Second || h.Command != "c" {
		t.Errorf("two parents: %+v", h)
	}
	z := hks["zero"]
	if z.Description != "" || z.Matcher != "" || z.Files != "" || z.Timeout != 0 || len(z.Depends) != 0 || z.Silent ||
		z.Env == nil ||
		len(z.Env) != 0 ||
		z.Command != "c" {
		t.Errorf("written zero values: %+v", z)
	}
	if hks["on"].Env[0] != "X" || hks["gate"].OnFailure != "block" {
		t.Errorf("env %v, on_failure %q", hks["on"].Env, hks["gate"].OnFailure)
	}
	order, err := hks.Sort("pre")
	if err != nil || strings.Join(order, " ") != "z deep gate on zero" {
		t.Errorf("order %v, %v", order, err)
	}
}

// HK-90: a later home replaces; inheriting one's own name means the replaced one.
func TestHookHomes(t *testing.T) {
	global := tree(
		t,
		map[string]string{
			"config/hooks/a.yaml": "a: {event: pre, command: global, timeout: 3}\nb: {event: pre, command: b}\n",
		},
	)
	project := tree(
		t,
		map[string]string{"config/hooks/z.yaml": "a: {event: post, command: project}\nb: {inherit: [b], timeout: 4}\n"},
	)
	c, err := config.Load(config.Homes{Global: global, Projects: []string{project}})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Hooks["a"]; a.Event != "post" || a.Command != "project" || a.Timeout != 0 || len(c.Hooks) != 2 {
		t.Errorf("a: %+v", a)
	}
	if b := c.Hooks["b"]; b.Command != "b" || b.Timeout != 4*time.Second || b.Source.Home != project {
		t.Errorf("b: %+v", b)
	}
}

// HK-52 HK-53 HK-64: order, and what is left out of it.
func TestHookOrder(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"alphabetical", "c: {event: pre, command: x}\na: {event: pre, command: x}\n" +
			"b: {event: pre, command: x}\n", "a b c"},
		{"dependencies just before", "a: {event: pre, command: x, depends: [z, y]}\n" +
			"b: {event: pre, command: x}\ny: {event: pre, command: x}\nz: {event: pre, command: x}\n", "y z a b"},
		{"other events", "a: {event: post, command: x}\nb: {event: pre, command: x}\n", "b"},
		{"disabled", "a: {event: pre, command: x, disabled: true}\nb: {event: pre, command: x, depends: [a]}\n" +
			"c: {event: pre, command: x, depends: [b]}\nd: {event: pre, command: x}\n", "d"},
		{"disabled parent without an event", "a: {disabled: true}\nb: {event: pre, command: x, depends: [a]}\n" +
			"d: {event: pre, command: x}\n", "d"},
		{"diamond", "a: {event: pre, command: x}\nb: {event: pre, command: x, depends: [a]}\n" +
			"c: {event: pre, command: x, depends: [a]}\nd: {event: pre, command: x, depends: [c, b]}\n", "a b c d"},
	} {
		hks, err := loadHooks(t, map[string]string{"h.yaml": tt.text})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		order, err := hks.Sort("pre")
		if got := strings.Join(order, " "); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

// HK-05 HK-10 HK-54 HK-55 HK-56 HK-62 HK-89: every mistake, with its line.
func TestHookErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"typo", "a:\n  event: pre\n  comand: x\n", `h.yaml:3: a.comand: unknown key (did you mean "command"?)`},
		{
			"event", "a:\n  event: mid\n  command: x\n", `h.yaml:2: a.event: "mid" is not one of pre, post, session_start`,
		},
		{"no event", "a:\n  command: x\n", "h.yaml:1: a.event: missing (write event: pre or event: post)"},
		{"no command", "a:\n  event: pre\n", "h.yaml:1: a.command: missing"},
		{"matcher", "a:\n  event: pre\n  command: x\n  matcher: \"(\"\n", "h.yaml:4: a.matcher: error parsing " +
			"regexp: missing closing ): `(`"},
		{"files", "a:\n  event: pre\n  command: x\n  files: \"[\"\n", `h.yaml:4: a.files: "[" is not a valid glob`},
		{"syntax", "a:\n  event: pre\n  command: if true\n", "h.yaml:3: a.command: script: 1:1: `if <cond>` " +
			"must be followed by `then`"},
		{"timeout", "a:\n  event: pre\n  command: x\n  timeout: -1\n", "h.yaml:4: a.timeout: must not be negative"},
		{
			"cycle", "a: {event: pre, command: x, depends: [b]}\nb: {event: pre, command: x, depends: [a]}\n",
			"h.yaml:2: b.depends: hooks depend on each other in a circle: a -> b -> a",
		},
		{"own cycle", "a: {event: pre, command: x, depends: [a]}\n", "h.yaml:1: a.depends: hooks depend on each " +
			"other in a circle: a -> a"},
		{"missing", "go:format: {event: pre, command: x}\nb: {event: pre, command: x, depends: [go:fmt]}\n", `h.yaml:2: b.depends: no hook "go:fmt" (did you mean "go:format"?)`},
		{"other event", "a: {event: pre, command: x}\nb: {event: post, command: x, depends: [a]}\n", `h.yaml:2: b.depends: hook "a" runs at event pre, not post`},
		{"parent", "a: {event: pre, command: x}\nb:\n  inherit:\n  - aa\n", `h.yaml:4: inherit[0]: no hook "aa" (did you mean "a"?)`},
		{"circle of parents", "a: {inherit: [b]}\nb: {inherit: [a]}\n", "hooks inherit in a circle: a -> b -> a"},
		{
			"fragment", "go:lint:\n  depends: [go:fix] # runs after go:fix completes\n",
			"h.yaml:1: go:lint.event: missing",
		},
		{"matcher elsewhere", "a: {event: session_end, command: x, matcher: M}\n", "a.matcher: only hooks at " +
			"event pre or post can have one, this one runs at session_end"},
		{
			"closed gate after the fact", "a: {event: post, command: x, on_failure: block}\n",
			"a.on_failure: nothing can be blocked at event post (only at pre and user_message)",
		},
		{"silent gate", "a: {event: pre, command: x, on_failure: block, silent: true}\n", "a.on_failure: a " +
			"silent hook cannot block (write silent: false)"},
		{"on_failure", "a: {event: pre, command: x, on_failure: deny}\n", `a.on_failure: "deny" is not one of allow, block`},
		{"not a map", "a: [x]\n", "h.yaml:1: a: want a mapping (key: value), got a list"},
		{"twice", "a: {event: pre, command: x}\na: {event: pre, command: x}\n", "h.yaml:2: a: duplicate key " +
			"(first on line 1)"},
	} {
		_, err := loadHooks(t, map[string]string{"h.yaml": tt.text})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\n%v\nwant %s", tt.name, err, tt.want)
		}
	}
	_, err := loadHooks(t, map[string]string{
		"a.yaml": "a: {event: pre, command: x, depends: [q]}\nb: {event: pre}\n",
		"b.yaml": "a: {event: pre, command: x}\n",
	})
	if err == nil || !strings.Contains(err.Error(), "hook is already defined in") ||
		!strings.Contains(err.Error(), "b.command: missing") {
		t.Errorf("several mistakes: %v", err)
	}
}

func FuzzHooks(f *testing.F) {
	for _, s := range []string{
		goChain, "a: {event: pre, command: x, depends: [a]}", "a: &a {inherit: [a]}\nb: *a", "a: {<<: {event: pre}}",
		"a: {disabled: maybe}",
	} {
		f.Add(s)
	}
	dir := f.TempDir()
	file := filepath.Join(dir, "config", "hooks", "h.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Homes{Projects: []string{dir}})
		if err != nil {
			if !strings.Contains(err.Error(), "h.yaml") {
				t.Errorf("an error that does not name the file: %v", err)
			}
			return
		}
		for _, event := range c.Hooks.Events() {
			order, err := c.Hooks.Sort(event)
			if err != nil {
				t.Fatalf("loaded, yet %v", err)
			}
			for _, name := range order {
				if h := c.Hooks[name]; !h.Enabled() || h.Command == "" {
					t.Errorf("%s runs: %+v", name, h)
				}
			}
		}
	})
}
