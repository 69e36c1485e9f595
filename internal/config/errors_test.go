package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/strictyaml"
)

// HO-62: every kind of mistake, as a user sees it. Paths are relative to the home.
func TestLoadErrors(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf(
			"%c: &%c [%s]\n",
			c,
			c,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "),
		)
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"unknown key", map[string]string{"features/t.yaml": "tools:\n  max_steps: 5\n  max_stepz: 5\n"},
			`features/t.yaml:3: tools.max_stepz: unknown key (did you mean "max_steps"?)`},
		{"unknown key, nothing near", map[string]string{"features/t.yaml": "title:\n  zzz: 5\n"},
			`features/t.yaml:2: title.zzz: unknown key (keys: disabled, agent, prompt, max_length)`},
		{"wrong types", map[string]string{"features/t.yaml": "tools:\n  max_steps: many\n  parallel: 3\n" +
			"  enabled: Read\n  policy: [a]\n  bash: 5\n  opt_in: [1, ~, {}]\npython: 3.12\n" +
			"estimation: {divisor: x}\ntitle: {max_length: 99999999999999999999}\n"},
			`features/t.yaml:2: tools.max_steps: want an integer, got a string "many"
features/t.yaml:3: tools.parallel: want true or false, got an integer
features/t.yaml:4: tools.enabled: want a list, got a string (write [Read])
features/t.yaml:5: tools.policy: want a mapping (key: value), got a list
features/t.yaml:6: tools.bash: want a mapping (key: value), got an integer
features/t.yaml:7: tools.opt_in[0]: want a string, got an integer (write "1")
features/t.yaml:7: tools.opt_in[1]: empty list item
features/t.yaml:7: tools.opt_in[2]: want a string, got a mapping
features/t.yaml:8: python: want a string, got a number (write "3.12")
features/t.yaml:9: estimation.divisor: want a number, got a string "x"
features/t.yaml:10: title.max_length: want an integer, got a number`},
		{"bad values", map[string]string{"features/t.yaml": "tools:\n  mode: percentag\n  max_steps: 0\n" +
			"  bash: {timeout: 5 minutes}\ncompaction: {threshold: 200}\nestimation: {divisor: 0, method: guess}\n"},
			`features/t.yaml:2: tools.mode: "percentag" is not one of tokens, percentage (did you mean "percentage"?)
features/t.yaml:3: tools.max_steps: 0 is too small (at least 1)
features/t.yaml:4: tools.bash.timeout: want a duration such as "90s" or whole seconds, got "5 minutes"
features/t.yaml:5: compaction.threshold: 200 is too large (at most 100)
features/t.yaml:6: estimation.method: "guess" is not one of rough
features/t.yaml:6: estimation.divisor: 0 is too small (more than 0)`},
		{"durations", map[string]string{"providers/t.yaml": "a:\n  type: ollama\n  timeout: -5s\n" +
			"  retry: {base_delay: [], max_delay: 99999999999999}\n"},
			`providers/t.yaml:3: a.timeout: must not be negative
providers/t.yaml:4: a.retry.base_delay: want a duration such as "90s" or whole seconds, got a list
providers/t.yaml:4: a.retry.max_delay: 99999999999999 seconds are too long`},
		{"duplicate key", map[string]string{"features/t.yaml": "title: {}\ntools: {}\ntitle: {}\n"},
			`features/t.yaml:3: title: duplicate key (first on line 1)`},
		{"broken YAML", map[string]string{"features/t.yaml": "tools: [1,\nx: 2\n"},
			`features/t.yaml:3: invalid YAML: while parsing a flow sequence that starts on line 1: did not find expected ',' or ']'`},
		{"tab", map[string]string{"features/t.yaml": "title:\n\tdisabled: true\n"},
			`features/t.yaml:2: invalid YAML: a tab where blanks are expected (YAML is indented with blanks only)`},
		{"control character", map[string]string{"features/t.yaml": "title: {}\npython: \x01\n"},
			`features/t.yaml:2: invalid YAML: control characters are not allowed (value: 1)`},
		{"two documents", map[string]string{"features/t.yaml": "title: {}\n---\ntools: {}\n"},
			`features/t.yaml: more than one YAML document (split the file)`},
		{"not a mapping", map[string]string{"features/t.yaml": "- a\n", "providers/p.yaml": "x\n"},
			`features/t.yaml:1: want a mapping (key: value), got a list
providers/p.yaml:1: want a mapping (key: value), got a string "x"`},
		{"alias bomb", map[string]string{
			"features/t.yaml": "plugins:\n  config:\n    global:\n      " +
				strings.ReplaceAll(bomb, "\n", "\n      ") + "\n",
		},
			`features/t.yaml:4: plugins.config.global.e[7][8][8][7][4]: too large or nested too deeply (aliases count with what they stand for)`},
		{"self reference", map[string]string{"features/t.yaml": "plugins: {config: {global: &a {x: *a}}}\n"},
			`features/t.yaml:1: plugins.config.global` + strings.Repeat(".x", 19) + `....: too large or nested too deeply (aliases count with what they stand for)`},
		{"frontmatter", map[string]string{
			"agents/a.md": "---\nname: a\n",
			"agents/b.md": "no frontmatter\n",
			"agents/c.md": "---\ndescription: x\n---\n",
			"agents/d.md": "---\nname: d\ntool: {}\nmodel:\n  think: hihg\n  generation: {temprature: 1}\n---\n",
			"agents/e.md": "\r\n---\r\nname: e\r\n---\r\n",
			"agents/f.md": "---\nname: [f\n---\n",
			"agents/g.md": "---\nname: g\nagentsmd: both\nfeatures:\n  tools: {max_step: 1}\n---\n",
		},
			`agents/a.md:1: frontmatter is not closed (no second ` + "`---`" + ` line)
agents/b.md:1: no frontmatter (start the file with ---, name: ..., ---)
agents/c.md:2: name: missing
agents/d.md:3: tool: unknown key (did you mean "tools"?)
agents/d.md:5: model.think: "hihg" is not one of off, on, low, medium, high (did you mean "high"?)
agents/d.md:6: model.generation.temprature: unknown key (did you mean "temperature"?)
agents/e.md:1: no frontmatter (start the file with ---, name: ..., ---)
agents/f.md:3: invalid YAML: while parsing a flow sequence that starts on line 2: did not find expected ',' or ']'
agents/g.md:3: agentsmd: "both" is not one of all, global, local, none
agents/g.md:5: features.tools.max_step: unknown key (did you mean "max_steps"?)`},
		{"duplicates in one home", map[string]string{
			"agents/a.md": "---\nname: Twin\ndefault: true\n---\n", "agents/b.md": "---\nname: twin\n---\n",
			"agents/c.md": "---\nname: c\ndefault: true\n---\n",
			"modes/a.md":  "---\nname: m\n---\n", "modes/sub/b.md": "---\nname: M\n---\n",
			"prompts/p.md": "x", "prompts/q.md": "---\nname: P\n---\nx",
			"providers/a.yaml": "x: {type: ollama}\n", "providers/b.yaml": "y: {type: ollama}\nX: {type: ollama}\n",
		},
			`agents/b.md:2: name: agent "twin" is already defined in agents/a.md
agents/c.md:3: default: agent "Twin" in agents/a.md is the default already
modes/sub/b.md:2: name: mode "M" is already defined in modes/a.md
prompts/q.md:2: name: prompt "P" is already defined in prompts/p.md
providers/b.yaml:2: X: provider is already defined in providers/a.yaml:1`},
		{"unknown names", map[string]string{
			"agents/a.md": "---\nname: agent-a\nmode: plann\nsystem: sytem\nmodel: {provider: olama}\n" +
				"fallback: [agent-a, agent-b]\nfeatures: {title: {agent: x}}\n---\n",
			"modes/m.md":      "---\nname: m\nfeatures:\n  compaction: {agent: agent-c, prompt: nowhere}\n---\n",
			"features/f.yaml": "subagent: {agent: agnet-a}\ntitle:\n  prompt: systm\n",
		},
			`agents/a.md:3: mode: no mode "plann" (did you mean "plan"?)
agents/a.md:4: system: no prompt "sytem" (did you mean "system"?)
agents/a.md:5: model.provider: no provider "olama" (did you mean "ollama"?)
agents/a.md:6: fallback[1]: no agent "agent-b" (did you mean "agent-a"?)
agents/a.md:7: features.title.agent: no agent "x" (agents: agent-a, code, explore)
features/f.yaml:1: subagent.agent: no agent "agnet-a" (did you mean "agent-a"?)
features/f.yaml:3: title.prompt: no prompt "systm" (did you mean "system"?)
modes/m.md:4: features.compaction.agent: no agent "agent-c" (did you mean "agent-a"?)
modes/m.md:4: features.compaction.prompt: no prompt "nowhere" (prompts: system)`},
		{"no follow-up mistakes of a broken file", map[string]string{
			"agents/a.md": "---\nname: a\nmode: m\nmodel: {provider: p}\ninherit: [b]\n---\n",
			"agents/b.md": "---\nname: [b\n---\n",
			"modes/m.md":  "---\nname: m\n", "providers/p.yaml": "p: {\n",
		},
			`agents/b.md:3: invalid YAML: while parsing a flow sequence that starts on line 2: did not find expected ',' or ']'
modes/m.md:1: frontmatter is not closed (no second ` + "`---`" + ` line)
providers/p.yaml:2: invalid YAML: while parsing a flow node: did not find expected node content`},
		{"inherit", map[string]string{
			"agents/a.md": "---\nname: a\ninherit: [b]\n---\n", "agents/b.md": "---\nname: b\ninherit:\n  - c\n---\n",
			"agents/c.md":    "---\nname: c\ninherit: [a]\n---\n",
			"agents/d.md":    "---\nname: d\ninherit:\n  - a\n  - expolre\n---\n",
			"agents/self.md": "---\nname: self\ninherit: [SELF]\n---\n",
			"modes/m.md":     "---\nname: m\ninherit: [zzz]\n---\n",
		},
			`agents/a.md:3: inherit: agents inherit in a circle: a -> b -> c -> a
agents/d.md:5: inherit[1]: no agent "expolre" (did you mean "explore"?)
agents/self.md:3: inherit: agents inherit in a circle: self -> self
modes/m.md:3: inherit[0]: no mode "zzz" (modes: edit, plan)`},
		{"templates", map[string]string{
			"agents/a.md": "---\nname: a\n---\n\nfine\n{{ if .X }}\n",
			"agents/b.md": "---\nname: b\n---\nx\n{{ template \"mode\" . }}\n",
			"modes/m.md":  "---\nname: m\n---\n{{ nope . }}\n",
			"prompts/p.md": "one\n{{ if .X }}{{ template \"agnet\" . }}{{ end }}{{ define \"own\" }}{{ template " +
				"\"mode\" . }}{{ end }}{{ template \"own\" }}\n",
		},
			`agents/a.md:6: template: unexpected EOF
agents/b.md:5: template: no template "mode" (only prompts can include parts)
modes/m.md:4: template: function "nope" not defined
prompts/p.md:2: template: no template "agnet" (did you mean "agent"?)`},
		{"providers", map[string]string{"providers/p.yaml": "a: {url: x}\nb:\n  type: openia\nc:\n" +
			"  type: script\nd:\n  type: google\n  url: ftp://x\n  api: chat\n  script: s\ne:\n  type: openai\n" +
			"  retry: {max_attempts: 50}\n"},
			`providers/p.yaml:1: a.type: missing (openai, anthropic, google, ollama or script)
providers/p.yaml:1: a.url: "x" is not an http or https address
providers/p.yaml:3: b.type: "openia" is not one of openai, anthropic, google, ollama, script (did you mean "openai"?)
providers/p.yaml:4: c.script: missing (path of the script to play)
providers/p.yaml:8: d.url: "ftp://x" is not an http or https address
providers/p.yaml:9: d.api: only type openai has one
providers/p.yaml:10: d.script: only type script has one
providers/p.yaml:13: e.retry.max_attempts: 50 is too large (at most 20)`},
		{"places", map[string]string{
			"agnets/a.md": "x", "stuff/a.md": "x", "features.yaml": "x", "agents/a.yaml": "x", "hooks/h.md": "x",
			"tools/x.yaml": "",
		},
			`agents/a.yaml: agents are *.md files
agnets: unknown directory (did you mean "agents"?)
features.yaml: file is in no directory of config (agents, commands, features, hooks, mcp, modes, prompts, providers, rules, sandbox, tasks, tools)
hooks/h.md: hooks are *.yaml files
stuff: unknown directory (directories: agents, commands, features, hooks, mcp, modes, prompts, providers, rules, sandbox, tasks, tools)`},
		{"size", map[string]string{"features/t.yaml": strings.Repeat("#", 1<<20+1)},
			`features/t.yaml: larger than 1024 KiB`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["config/"+name] = text
			}
			home := tree(t, files)
			c, err := config.Load(config.Homes{Global: home})
			if err == nil {
				t.Fatal("no error")
			}
			got := filepath.ToSlash(
				strings.ReplaceAll(err.Error(), filepath.Join(home, "config")+string(filepath.Separator), ""),
			)
			if got != tt.want || c != nil {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if e, ok := errors.AsType[*config.Error](err); !ok || e.File == "" {
				t.Errorf("not an *Error: %T", err)
			}
		})
	}
}

// Mistakes of both homes come in one report.
func TestLoadErrorsOfAllHomes(t *testing.T) {
	files := map[string]string{"config/features/t.yaml": "tool: {}\n"}
	a, b := tree(t, files), tree(t, files)
	_, err := config.Load(config.Homes{Global: a, Projects: []string{b}})
	if n := strings.Count(fmt.Sprint(err), "unknown key"); n != 2 {
		t.Errorf("got %v", err)
	}
}

func TestUnreadable(t *testing.T) {
	home := tree(t, map[string]string{"config": "a file"})
	if _, err := config.Load(config.Homes{Global: home}); err == nil {
		t.Error("config as a file: no error")
	}
	home = tree(t, nil)
	if err := os.MkdirAll(filepath.Join(home, "config", "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(home, "config", "agents", "a.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(config.Homes{Global: home}); err == nil || !strings.Contains(err.Error(), "a.md: ") {
		t.Errorf("dangling link: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "tools: {max_steps: 5}", "plugins: {config: {global: &a {x: *a}}}", "? [a]\n: 1", "tools: &t\n  <<: *t\n",
		"<<: [{title: {}}]", "thinking: !!binary aGk=", "tools: {bash: {timeout: 5m}}\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v := config.DefaultFeatures()
		err := strictyaml.Decode("f.yaml", 1, src, &v)
		if all, ok := errors.AsType[config.Errors](err); err != nil && (!ok || len(all) == 0) {
			t.Fatalf("%T %v", err, err)
		}
	})
}
