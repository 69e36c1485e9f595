package tasks_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/schedule"
	"github.com/idelchi/aura/internal/tasks"
)

// load reads tasks from files of a project home.
func load(t testing.TB, files map[string]string) ([]tasks.Task, string, error) {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".aura")
	for name, text := range files {
		file := filepath.Join(home, "config", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Homes{Projects: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := tasks.Load(cfg)
	return list, home, err
}

// The sample of the plugin documentation has no commands: it loads. HO-42
func TestLoadSample(t *testing.T) {
	list, _, err := load(t, map[string]string{"tasks/logs.yaml": `# Task sets GOTIFY_LOG_LEVEL at runtime
logs:
  env:
    GOTIFY_LOG_LEVEL: ERROR
  tools:
    enabled: [Gotify]
`})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	logs := list[0]
	if logs.Name != "logs" || logs.Env["GOTIFY_LOG_LEVEL"] != "ERROR" || logs.Tools.Enabled[0] != "Gotify" ||
		!logs.Empty() ||
		logs.Timeout != tasks.DefaultTimeout ||
		logs.Source.Line != 2 ||
		!logs.Schedule.IsZero() {
		t.Errorf("%+v", logs)
	}
}

func TestInherit(t *testing.T) {
	list, _, err := load(t, map[string]string{
		"tasks/base.yaml": `base:
  disabled: true
  description: parent
  timeout: 10m
  env: {A: "1", B: "1"}
  pre: "!true"
  commands: [one, two]
  foreach: {items: [x]}
  tools: {enabled: [Read], disabled: [Bash]}
  schedule: {every: 30m}
  features: {tools: {max_steps: 3}}
`,
		"tasks/deep/child.yaml": `child:
  inherit: [base]
  env: {B: "2"}
  commands: three
  foreach: {files: "*.go"}
  tools: {enabled: [Write]}
  features: {tools: {parallel: false}}
grandchild:
  inherit: [child]
  timeout: 0
  schedule: ""
  commands: []
`})
	if err != nil {
		t.Fatal(err)
	}
	child, err := tasks.Find(list, "CHILD")
	if err != nil {
		t.Fatal(err)
	}
	if child.Disabled || child.Description != "parent" || child.Timeout != 10*time.Minute ||
		child.Env["A"]+child.Env["B"] != "12" ||
		!reflect.DeepEqual(
			[]string(child.Commands), []string{"three"},
		) || child.Foreach.Items != nil || child.Foreach.Files != "*.go" ||
		child.Tools.Enabled[0] != "Write" ||
		child.Tools.Disabled[0] != "Bash" ||
		len(child.Features) != 2 ||
		child.Schedule.String() != "every: 30m" {
		t.Errorf("child: %+v", child)
	}
	grandchild, err := tasks.Find(list, "grandchild")
	if err != nil || grandchild.Timeout != 0 || !grandchild.Schedule.IsZero() || !grandchild.Empty() ||
		grandchild.Env["B"] != "2" {
		t.Errorf("grandchild: %+v, %v", grandchild, err)
	}
	if base, err := tasks.Find(list, "base"); err != nil || !base.Disabled || base.Env["B"] != "1" {
		t.Errorf("base: %+v, %v", base, err)
	}
	if _, err := tasks.Find(list, "chld"); err == nil || err.Error() != `no task "chld" (did you mean "child"?)` {
		t.Error(err)
	}
}

// All mistakes are reported at once, with file and line.
func TestMistakes(t *testing.T) {
	_, home, err := load(t, map[string]string{"tasks/bad.yaml": `a:
  comands: [x]
b:
  commands:
    - fine
    - "{{ .Var.x }}"
    - "$[[ .Itm ]]"
    - "!if"
    - "!"
    - "{{ if }}"
  env: {"A-B": x, C: "{{ .Nope }}", D: "$[[ .Item ]]"}
  foreach: {items: [x], files: "*"}
  schedule: {evry: 30m}
c:
  agent: nobody
  mode: nothing
  timeout: -1
d:
  inherit: [e]
e:
  inherit: [d]
f:
  inherit: [bb]
g:
  foreach: {files: "[a"}
  schedule: {every: 1m, daily: 03:00}
  features: {tols: {}}
h:
  foreach: {}
`, "tasks/more.yaml": "h: {commands: [x]}\n"})
	if err == nil {
		t.Fatal("no mistakes")
	}
	got := strings.ReplaceAll(err.Error(), filepath.Join(home, "config", "tasks")+string(filepath.Separator), "")
	for _, want := range []string{
		`bad.yaml:2: a.comands: unknown key (did you mean "commands"?)`,
		`bad.yaml:6: b.commands[1]: template: no .Var here (did you mean .Vars?)`,
		`bad.yaml:7: b.commands[2]: template: no .Itm here (did you mean .Item?)`,
		`bad.yaml:8: b.commands[3]: script:`,
		`bad.yaml:9: b.commands[4]: no shell command after the !`,
		`bad.yaml:10: b.commands[5]: template:`,
		`bad.yaml:11: b.env.A-B: bad variable name`,
		`bad.yaml:11: b.env.C: template: no .Nope here (there are .Vars, .Workdir, .Date, .Env)`,
		`bad.yaml:11: b.env.D: $[[ ]] is expanded before each command, not here (write {{ }})`,
		`bad.yaml:12: b.foreach: needs exactly one of items, files, shell`,
		`bad.yaml:13: b.schedule: no schedule "evry" (did you mean "every"?)`,
		`bad.yaml:15: c.agent: no agent "nobody"`,
		`bad.yaml:16: c.mode: no mode "nothing"`,
		`bad.yaml:17: c.timeout: must not be negative`,
		`bad.yaml:19: inherit: tasks inherit in a circle: d -> e -> d`,
		`bad.yaml:23: inherit[0]: no task "bb"`,
		`bad.yaml:25: g.foreach.files: "[a" is not a valid glob`,
		`bad.yaml:26: g.schedule: needs exactly one of cron, every, daily, weekly, monthly, once`,
		`bad.yaml:27: g.features.tols: unknown key`,
		`bad.yaml:29: h.foreach: needs exactly one of items, files, shell`,
		`more.yaml:1: h: task is already defined in `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestChoose(t *testing.T) {
	list, _, err := load(t, map[string]string{"tasks/a.yaml": `a: {commands: [x]}
b: {disabled: true, commands: [x]}
c: {description: nothing}
d: {commands: [x]}
`})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ names, want, err string }{
		{"", "a d", ""},
		{"d A a", "d a", ""},
		{"c", "c", ""},
		{"b x", "", "is disabled"},
	} {
		got, err := tasks.Choose(list, strings.Fields(tt.names))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), `no task "x"`) {
				t.Errorf("%q: %v", tt.names, err)
			}
			continue
		}
		var names []string
		for _, x := range got {
			names = append(names, x.Name)
		}
		if err != nil || strings.Join(names, " ") != tt.want {
			t.Errorf("%q: %v, %v", tt.names, names, err)
		}
	}
}

// A home replaces what another one defines; a task that inherits its own name means
// the one it replaces.
func TestHomes(t *testing.T) {
	dir := t.TempDir()
	write := func(home, text string) string {
		file := filepath.Join(dir, home, "config", "tasks", "t.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, home)
	}
	cfg, err := config.Load(config.Homes{
		Global:   write("global", "x: {commands: [global], description: g}\ny: {commands: [y]}\n"),
		Projects: []string{write("project", "X: {inherit: [x], commands: [project]}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := tasks.Load(cfg)
	if err != nil || len(list) != 2 || list[0].Commands[0] != "project" || list[0].Description != "g" ||
		list[1].Name != "y" {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whatever a file holds, loading ends with tasks or with one error, and what loads can
// be planned.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"", "a: {}", "a: {commands: [x, '!y', /z]}", "a: {schedule: {weekly: 'mon,tue 03:00'}, commands: '{{ " +
			".Vars.x }}$[[ .Item ]]'}",
		"a: &a {inherit: [b], foreach: {items: [1]}}\nb: *a", "a: {schedule: 'cron: * * * * *', env: {A: '{{ " +
			".Date }}'}}", "a: {schedule: {once: 2026-01-02T15:04}}",
		"a: {commands: ['$[[ \"]]\" ]]{{ \"$[[\" }}']}", "a: {commands: [\"\\0{{ 1 }}\"]}",
	} {
		f.Add(s)
	}
	home := filepath.Join(f.TempDir(), ".aura")
	file := filepath.Join(home, "config", "tasks", "f.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.Fatal(err)
	}
	cfg := config.Homes{Projects: []string{home}}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, "range") ||
			strings.Contains(src, "env_file") { // A template may take its time, a file may be anything.
			return
		}
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(cfg)
		if err != nil {
			t.Fatal(err)
		}
		list, err := tasks.Load(c)
		if err != nil {
			return
		}
		for _, x := range list {
			if again, err := schedule.Parse(
				x.Schedule.String(),
			); err != nil ||
				again.String() != x.Schedule.String() {
				t.Errorf("%q: %q, %v", x.Schedule, again, err)
			}
			_, _ = x.Plan(tasks.Start{Workdir: home, Now: time.Unix(0, 0)})
		}
	})
}
