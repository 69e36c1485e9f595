package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/config"
)

// tree writes files below a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, h config.Homes) *config.Config {
	t.Helper()
	c, err := config.Load(h)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func resolve(t *testing.T, c *config.Config, agent, mode string, overrides ...string) config.Features {
	t.Helper()
	a, err := c.Agent(agent)
	if err != nil {
		t.Fatal(err)
	}
	var m *config.Mode
	if mode != "" {
		found, err := c.Mode(mode)
		if err != nil {
			t.Fatal(err)
		}
		m = &found
	}
	f, err := c.Resolve(a, m, overrides)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func names[T any](list []T, of func(T) string) string {
	var out []string
	for _, item := range list {
		out = append(out, of(item))
	}
	return strings.Join(out, " ")
}

func agentNames(c *config.Config) string {
	return names(c.Agents, func(a config.Agent) string { return a.Name })
}

// HO-12 HO-13: every key of agents and modes arrives.
func TestLoadAgentAndMode(t *testing.T) {
	home := tree(t, map[string]string{
		"config/agents/sub/x.md": `---
name: MyAgent
description: an agent
model:
  provider: Mock
  name: m1
  think: high
  context: 8000
  generation: {temperature: 0.5, top_p: 1, top_k: 3, max_output_tokens: 100, stop: [END], seed: 7, think_budget: 5}
mode: careful
system: base
tools:
  enabled: ["*"]
  disabled: [Bash]
  policy: {auto: [Read], confirm: ["Bash:git push*"], deny: ["mcp__*"]}
hooks:
  disabled: ["go:*"]
fallback: [other]
default: true
subagent: true
agentsmd: local
files: [NOTES.md]
features:
  tools: {max_steps: 3}
---

You are {{ .Agent }}.
`,
		"config/agents/other.md":       "---\nname: Other\nhide: true\n---\n",
		"config/agents/bad.example.md": "---\nnope",
		"config/agents/README.md":      "about",
		"config/agents/.hidden.md":     "---\nnope",
		"config/agents/note.txt":       "ignored",
		"config/modes/careful.md": "---\nname: Careful\ndescription: slow\n" +
			"hooks: {enabled: [a], disabled: [b]}\ntools: {enabled: [Read]}\n" +
			"features: {title: {disabled: true}}\n---\nBe careful.\n",
		"config/prompts/base.md":        "Base: {{ template \"agent\" . }}{{ template \"mode\" . }}",
		"config/providers/p/mock.yml":   "mock:\n  type: script\n  script: play/a.yaml\n",
		"config/mcp/sub/go.yaml":        "whatever: 1\n",
		"config/rules/approvals.yaml":   "tool_auto: [\"Bash:ls*\"]\n",
		"config/providers/empty.yaml":   "# nothing\n",
		"plugins/p/anything.yaml":       "not: read\n",
		"config/hooks/a.example.yaml":   "nope",
		"config/features/nothing.yaml":  "",
		"config/features/nothing2.yaml": "tools:\n  policy:\n",
	})
	c := load(t, config.Homes{Global: home})

	a, err := c.Agent("MYAGENT")
	if err != nil {
		t.Fatal(err)
	}
	g := a.Model.Generation
	if a.Name != "MyAgent" || a.Description != "an agent" || a.Model.Provider != "Mock" || a.Model.Name != "m1" ||
		a.Model.Think != "high" || a.Model.Context != 8000 || *g.Temperature != 0.5 || *g.TopP != 1 || *g.TopK != 3 ||
		g.MaxOutputTokens != 100 || g.Stop[0] != "END" || *g.Seed != 7 || g.ThinkBudget != 5 {
		t.Errorf("model: %+v", a.Model)
	}
	if a.Mode != "careful" || a.System != "base" || a.Tools.Enabled[0] != "*" || a.Tools.Disabled[0] != "Bash" ||
		!reflect.DeepEqual(
			a.Tools.Policy,
			config.Policy{Auto: []string{"Read"}, Confirm: []string{"Bash:git push*"}, Deny: []string{"mcp__*"}},
		) ||
		a.Hooks.Disabled[0] != "go:*" || a.Fallback[0] != "other" || !a.Default || !a.Subagent ||
		a.AgentsMD != "local" ||
		a.Files[0] != "NOTES.md" || a.Hide {
		t.Errorf("agent: %+v", a)
	}
	if a.Body != "You are {{ .Agent }}." || a.Source.BodyLine != 27 || a.Source.Home != home {
		t.Errorf("body %q, source %+v", a.Body, a.Source)
	}
	m, err := c.Mode("careful")
	if err != nil {
		t.Fatal(err)
	}
	if m.Hooks.Enabled[0] != "a" || m.Hooks.Disabled[0] != "b" || m.Tools.Enabled[0] != "Read" ||
		m.Body != "Be careful." {
		t.Errorf("mode: %+v", m)
	}
	if f := resolve(t, c, "myagent", "careful"); f.Tools.MaxSteps != 3 || !f.Title.Disabled {
		t.Errorf("features: %+v", f)
	}
	p, err := c.Provider("MOCK")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(
		home,
		"config",
		"providers",
		"p",
		"play",
		"a.yaml",
	); p.Script != want || p.Timeout != 5*time.Minute ||
		p.Retry.MaxAttempts != 2 {
		t.Errorf("provider: %+v", p)
	}
	if got := agentNames(c); got != "MyAgent Other" {
		t.Errorf("agents: %s", got)
	}
	if len(c.Files["mcp"]) != 1 || filepath.Base(c.Files["mcp"][0].Path) != "go.yaml" {
		t.Errorf("files: %v", c.Files)
	}
	if !slices.Equal(c.Approvals, []string{"Bash:ls*"}) {
		t.Errorf("approvals: %v", c.Approvals)
	}
}

// HO-03: both homes count, the project last; HO-59: names without regard to case.
func TestHomesMerge(t *testing.T) {
	global := tree(t, map[string]string{
		"config/agents/a.md":      "---\nname: shared\ndescription: global\ndefault: true\n---\nglobal body",
		"config/agents/b.md":      "---\nname: only-global\n---\nB",
		"config/providers/p.yaml": "one: {type: openai, url: \"http://g\", token: t}\ntwo: {type: ollama}\n",
		"config/features/f.yaml": "tools: {max_steps: 5, disabled: [A, B]}\nplugins:\n  dir: p2\n" +
			"  config:\n    global: {x: 1, n: {deep: 1}}\n    local: {plug: {a: 1, b: 1}}\n",
		"config/features/zz/late.yaml": "tools: {token_budget: 9}\n",
	})
	project := tree(t, map[string]string{
		"config/agents/a.md":      "---\nname: Shared\ndescription: project\n---\nproject body",
		"config/agents/c.md":      "---\nname: zed\ndefault: true\nmode: SLOW\n---\n",
		"config/modes/m.md":       "---\nname: slow\n---\n",
		"config/providers/p.yaml": "ONE: {type: anthropic}\n",
		"config/features/f.yaml": "tools: {disabled: [C]}\nplugins:\n  config:\n" +
			"    global: {y: 2, n: {other: 1}}\n    local: {plug: {b: 2}, more: {}}\n",
		"config/sandbox/s.yaml": "sandbox: {enabled: true, extra: {rw: [/tmp]}}\n",
	})
	c := load(t, config.Homes{Global: global, Projects: []string{project}})

	if got := agentNames(c); got != "only-global Shared zed" {
		t.Errorf("agents: %s", got)
	}
	if a, err := c.Agent("sHaReD"); err != nil || a.Body != "project body" || a.Description != "project" {
		t.Errorf("shared: %+v, %v", a, err)
	}
	if a, err := c.DefaultAgent(); err != nil || a.Name != "zed" {
		t.Errorf("default: %s, %v", a.Name, err)
	}
	if p, err := c.Provider("one"); err != nil || p.Type != "anthropic" || p.URL != "" || p.Token != "" {
		t.Errorf("provider: %+v, %v", p, err)
	}
	f := resolve(t, c, "zed", "slow")
	if f.Tools.MaxSteps != 5 || f.Tools.TokenBudget != 9 || !slices.Equal(f.Tools.Disabled, []string{"C"}) {
		t.Errorf("tools: %+v", f.Tools)
	}
	want := config.PluginConfig{
		Global: map[string]any{"x": 1, "y": 2, "n": map[string]any{"other": 1}},
		Local:  map[string]map[string]any{"plug": {"a": 1, "b": 2}, "more": nil},
	}
	if got := f.Plugins.Config; !reflect.DeepEqual(got.Global, want.Global) ||
		!reflect.DeepEqual(got.Local["plug"], want.Local["plug"]) {
		t.Errorf("plugin config: %#v", got)
	}
	if !f.Sandbox.Enabled || f.Sandbox.Extra.RW[0] != "/tmp" {
		t.Errorf("sandbox: %+v", f.Sandbox)
	}
	dirs := []string{filepath.Join(global, "p2"), filepath.Join(project, "plugins")}
	if got := c.PluginDirs(); !slices.Equal(got, dirs) {
		t.Errorf("plugin dirs: %v", got)
	}
	// Resolving twice gives the same: no layer is changed by being applied.
	if again := resolve(t, c, "zed", "slow"); !reflect.DeepEqual(again, f) {
		t.Errorf("again: %+v", again)
	}
}

func TestResolveOrder(t *testing.T) {
	agent := "---\nname: a\nfeatures: {tools: {max_steps: 3, token_budget: 3, mode: percentage}, compaction: " +
		"{threshold: 3}}\n---\n"
	mode := "---\nname: m\nfeatures: {tools: {max_steps: 4}, compaction: {threshold: 0}}\n---\n"
	global := tree(
		t,
		map[string]string{
			"config/features/f.yaml": "tools: {max_steps: 1, token_budget: 1, opt_in: [A], parallel: false}\n",
			"config/agents/a.md":     agent,
			"config/modes/m.md":      mode,
		},
	)
	project := tree(t, map[string]string{"config/features/f.yaml": "tools: {max_steps: 2, parallel: yes}\n"})
	c := load(t, config.Homes{Global: global, Projects: []string{project}})

	f := resolve(
		t,
		c,
		"a",
		"m",
		"title.max_length=9",
		"tools.opt_in=[X, Y]",
		"tools.bash.timeout=2m",
		"python=",
		"plugins.config.local.p.n=0x10",
	)
	got := []any{
		f.Tools.MaxSteps,
		f.Tools.TokenBudget,
		f.Tools.Mode,
		f.Compaction.Threshold,
		f.Title.MaxLength,
		f.Tools.OptIn[1],
		f.Tools.Bash.Timeout,
		f.Tools.Parallel,
		f.Plugins.Config.Local["p"]["n"],
	}
	want := []any{4, 3, "percentage", 0, 9, "Y", 2 * time.Minute, true, 16}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if f := resolve(t, c, "a", ""); f.Tools.MaxSteps != 3 || f.Compaction.Threshold != 3 {
		t.Errorf("without mode: %+v", f.Tools)
	}

	a, _ := c.Agent("a")
	_, err := c.Resolve(
		a,
		nil,
		[]string{
			"tools.max_stepz=5",
			"tools.max_steps=many",
			"novalue",
			"a..b=1",
			"title.agent=b",
			"tools.result=[",
			"compaction.threshold=101",
		},
	)
	wantErr := `--override: tools.max_stepz: unknown key (did you mean "max_steps"?)
--override: tools.max_steps: want an integer, got a string "many"
--override: "novalue" is not key.path=value (such as tools.max_steps=5)
--override: "a..b=1" is not key.path=value (such as tools.max_steps=5)
--override: title.agent: no agent "b" (agents: a, code, explore)
--override: tools.result: invalid YAML: while parsing a flow node: did not find expected node content
--override: compaction.threshold: 101 is too large (at most 100)`
	if err == nil || err.Error() != wantErr {
		t.Errorf("got\n%v\nwant\n%s", err, wantErr)
	}
}

func TestInherit(t *testing.T) {
	global := tree(t, map[string]string{
		"config/agents/base.md": "---\nname: base\nhide: true\ndefault: true\ndescription: d\n" +
			"model: {provider: ollama, name: m}\ntools: {enabled: [A], disabled: [B]}\n" +
			"features: {tools: {max_steps: 1, token_budget: 1}}\n---\nbase {{ .Agent }}\n",
		"config/agents/left.md": "---\nname: left\ninherit: [base]\ntools: {enabled: [L]}\nmodel: {name: left}\n---\n",
		"config/agents/right.md": "---\nname: right\ninherit: [base]\ntools: {disabled: []}\n" +
			"features: {tools: {max_steps: 2}}\n---\nright\n",
		"config/agents/child.md": "---\nname: child\ninherit: [Left, right]\nmodel: {think: on}\n---\n",
		"config/modes/p.md":      "---\nname: p\nhide: true\ntools: {enabled: [A]}\n---\nparent\n",
		"config/modes/c.md":      "---\nname: c\ninherit: [p]\ndescription: x\n---\n",
	})
	project := tree(t, map[string]string{
		"config/agents/base.md": "---\nname: base\ninherit: [base]\nmodel: {name: mine}\n---\n",
		"config/agents/code.md": "---\nname: CODE\ninherit: [code]\ndescription: tuned\n---\n",
	})
	c := load(t, config.Homes{Global: global, Projects: []string{project}})

	child, err := c.Agent("child")
	if err != nil {
		t.Fatal(err)
	}
	// base applies once, before left and right; lists replace, mappings merge.
	if child.Model.Provider != "ollama" || child.Model.Name != "left" || child.Model.Think != "medium" ||
		!slices.Equal(
			child.Tools.Enabled,
			[]string{"L"},
		) || len(child.Tools.Disabled) != 0 || child.Description != "d" {
		t.Errorf("child: %+v", child)
	}
	if child.Hide || child.Default || child.Body != "right" || filepath.Base(child.Source.File) != "child.md" ||
		filepath.Base(child.Source.BodyFile) != "right.md" {
		t.Errorf("child: %+v", child)
	}
	if f := resolve(t, c, "child", ""); f.Tools.MaxSteps != 2 || f.Tools.TokenBudget != 1 {
		t.Errorf("features: %+v", f.Tools)
	}
	// An agent that inherits its own name means the one it shadows, also a built-in one.
	if base, _ := c.Agent(
		"base",
	); base.Model.Name != "mine" || base.Model.Provider != "ollama" || base.Body != "base {{ .Agent }}" ||
		base.Hide {
		t.Errorf("base: %+v", base)
	}
	if code, _ := c.Agent(
		"code",
	); code.Description != "tuned" || !strings.Contains(code.Body, "coding agent") ||
		code.System != "system" {
		t.Errorf("code: %+v", code)
	}
	if m, _ := c.Mode("c"); m.Body != "parent" || m.Tools.Enabled[0] != "A" || m.Hide {
		t.Errorf("mode: %+v", m)
	}
}

func TestDefaultAgent(t *testing.T) {
	for _, tt := range []struct {
		name            string
		global, project map[string]string
		want            string
	}{
		{"built in", nil, nil, "code"},
		{
			"first by name",
			map[string]string{
				"config/agents/1.md": "---\nname: zoo\n---\n", "config/agents/2.md": "---\nname: Bee\n---\n",
			},
			nil, "Bee",
		},
		{
			"hidden is passed over",
			map[string]string{
				"config/agents/1.md": "---\nname: a\nhide: true\n---\n", "config/agents/2.md": "---\nname: b\n---\n",
			},
			nil, "b",
		},
		{
			"default wins",
			map[string]string{
				"config/agents/1.md": "---\nname: a\n---\n", "config/agents/2.md": "---\nname: b\ndefault: true\n---\n",
			},
			nil, "b",
		},
		{
			"project default wins", map[string]string{"config/agents/1.md": "---\nname: a\ndefault: true\n---\n"},
			map[string]string{"config/agents/2.md": "---\nname: b\ndefault: true\n---\n"}, "b",
		},
		{
			"global default counts", map[string]string{"config/agents/1.md": "---\nname: z\ndefault: true\n---\n"},
			map[string]string{"config/agents/2.md": "---\nname: b\n---\n"}, "z",
		},
		{
			"all hidden", map[string]string{"config/agents/1.md": "---\nname: z\nhide: true\n---\n"}, nil,
			"error: no default agent: every agent is hidden (write `default: true` in one)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, config.Homes{Global: tree(t, tt.global), Projects: []string{tree(t, tt.project)}})
			a, err := c.DefaultAgent()
			got := a.Name
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLookupErrors(t *testing.T) {
	c := load(t, config.Homes{})
	for _, tt := range []struct {
		find func(string) error
		name string
		want string
	}{
		{func(n string) error { _, err := c.Agent(n); return err }, "coed", `no agent "coed" (did you mean "code"?)`},
		{func(n string) error { _, err := c.Agent(n); return err }, "reviewer", `no agent "reviewer" (agents: code, explore)`},
		{func(n string) error { _, err := c.Mode(n); return err }, "plna", `no mode "plna" (did you mean "plan"?)`},
		{func(n string) error { _, err := c.Prompt(n); return err }, "sys", `no prompt "sys" (did you mean "system"?)`},
		{func(n string) error { _, err := c.Provider(n); return err }, "antropic", `no provider "antropic" (did you mean "anthropic"?)`},
	} {
		if err := tt.find(tt.name); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestMissingHomes(t *testing.T) {
	dir := t.TempDir()
	c := load(
		t,
		config.Homes{Global: filepath.Join(dir, "none"), Projects: []string{filepath.Join(dir, "neither"), dir}},
	)
	if got := agentNames(c); got != "code explore" {
		t.Errorf("agents: %s", got)
	}
	if f := resolve(t, c, "code", "plan"); !reflect.DeepEqual(f, config.DefaultFeatures()) {
		t.Errorf("features: %+v", f)
	}
}

func TestLinks(t *testing.T) {
	home := tree(t, map[string]string{"elsewhere/a.md": "---\nname: linked\n---\n"})
	if err := os.MkdirAll(filepath.Join(home, "config", "agents", "loop"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(to, name string) {
		if err := os.Symlink(filepath.Join(home, to), filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("elsewhere", "config/agents/there")
	if got := agentNames(load(t, config.Homes{Global: home})); got != "linked" {
		t.Errorf("agents: %s", got)
	}
	link("config/agents", "config/agents/loop/up")
	_, err := config.Load(config.Homes{Global: home})
	if err == nil || !strings.Contains(err.Error(), "in a circle") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := config.Load(config.Homes{}); err != nil {
			b.Fatal(err)
		}
	}
}
