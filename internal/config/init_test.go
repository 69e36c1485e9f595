package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/templates"
)

// HO-04: what init writes is what holds without it, and nothing is overwritten.
func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", ".aura")
	written, skipped, err := config.Init(dir)
	if err != nil || len(written) == 0 || len(skipped) != 0 {
		t.Fatalf("written %v, skipped %v, %v", written, skipped, err)
	}
	kinds := map[string]bool{}
	for _, path := range written {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if parts := strings.Split(filepath.ToSlash(rel), "/"); parts[0] == "config" {
			kinds[parts[1]] = true
		} else if rel != ".gitignore" {
			t.Errorf("unexpected file %s", rel)
		}
	}
	for _, kind := range []string{"agents", "modes", "prompts", "providers", "features"} {
		if !kinds[kind] {
			t.Errorf("no %s written", kind)
		}
	}

	fresh, bare := load(t, config.Homes{Projects: []string{dir}}), load(t, config.Homes{})
	for i := range fresh.Agents {
		fresh.Agents[i].Source, bare.Agents[i].Source = config.Source{}, config.Source{}
	}
	for i := range fresh.Modes {
		fresh.Modes[i].Source, bare.Modes[i].Source = config.Source{}, config.Source{}
	}
	for i := range fresh.Prompts {
		fresh.Prompts[i].Source, bare.Prompts[i].Source = config.Source{}, config.Source{}
	}
	if !reflect.DeepEqual(fresh.Agents, bare.Agents) || !reflect.DeepEqual(fresh.Modes, bare.Modes) ||
		!reflect.DeepEqual(fresh.Prompts, bare.Prompts) {
		t.Error("agents, modes or prompts differ from the built-in ones")
	}
	if !reflect.DeepEqual(fresh.Providers, bare.Providers) {
		t.Errorf("providers: %v", fresh.Providers)
	}
	if f := resolve(t, fresh, "code", ""); !reflect.DeepEqual(f, config.DefaultFeatures()) {
		t.Errorf("features: %+v", f)
	}

	mine := written[len(written)-1]
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(written[0]); err != nil {
		t.Fatal(err)
	}
	again, kept, err := config.Init(dir)
	if err != nil || !slices.Equal(again, written[:1]) || !slices.Equal(kept, written[1:]) {
		t.Errorf("again: written %v, skipped %v, %v", again, kept, err)
	}
	if text, _ := os.ReadFile(mine); string(text) != "mine" {
		t.Errorf("overwritten: %q", text)
	}
}

// The commented values in the files of init are the real defaults, and no key is missing.
func TestInitCommentsAreDefaults(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := config.Init(dir); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "config", "features", "*.yaml"))
	var got config.Features
	var all strings.Builder
	for _, path := range files {
		_, body, _ := strings.Cut(uncomment(t, path), "\n\n")
		if err := strictyaml.Decode(path, 1, []byte(body), &got); err != nil {
			t.Fatal(err)
		}
		all.WriteString(body)
	}
	want := config.DefaultFeatures()
	clearEmpty(reflect.ValueOf(&got).Elem())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	for _, key := range keys(reflect.TypeFor[config.Features](), nil) {
		if reserved := []string{
			"guardrail",
			"vision",
			"stt",
			"tts",
			"embeddings",
		}; !slices.Contains(reserved, key) &&
			!strings.Contains(all.String(), key+":") {
			t.Errorf("key %s is in no file", key)
		}
	}

	// The examples of providers load too.
	text := uncomment(t, filepath.Join(dir, "config", "providers", "providers.yaml"))
	home := tree(t, map[string]string{"config/providers/p.yaml": text[strings.Index(text, "anthropic:\n"):]})
	if c := load(t, config.Homes{Global: home}); len(c.Providers) != 6 {
		t.Errorf("providers: %v", c.Providers)
	}
}

// The page for users names every key and model, and its examples load.
func TestDocumentation(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(src)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[config.Features](), reflect.TypeFor[config.Agent](), reflect.TypeFor[config.Provider](),
	} {
		for _, key := range keys(typ, nil) {
			if key != "-" && !strings.Contains(page, "`"+key) && !strings.Contains(page, "."+key) {
				t.Errorf("key %s of %v is not documented", key, typ)
			}
		}
	}
	for _, s := range models.Servers() {
		if s.Model != "" && !strings.Contains(page, "| "+s.Name+" | `"+s.Model+"` |") {
			t.Errorf("model of %s is not documented", s.Name)
		}
	}
	files := map[string]string{}
	for i, block := range strings.Split(page, "```")[1:] {
		kind, text, _ := strings.Cut(block, "\n")
		switch {
		case kind == "markdown" && !strings.HasPrefix(text, "---"): // Not configuration: AGENTS.md.
		case kind == "markdown" && len(files) == 0:
			files["config/agents/a.md"] = text
		case kind == "markdown":
			files["config/modes/m.md"] = text
		case kind == "yaml" && strings.HasPrefix(text, "# .aura/config/providers/"):
			files["config/providers/p.yaml"] = text
		case kind == "sh" && i%2 == 0:
			files["secrets.env"] = text
		}
	}
	home := tree(t, files)
	c := load(t, config.Homes{Global: home})
	if len(c.Agents) != 1 || len(c.Modes) != 1 || len(c.Providers) != 1 {
		t.Errorf("examples: %d agents, %d modes, %d providers", len(c.Agents), len(c.Modes), len(c.Providers))
	}
	if vars, err := config.LoadEnvFile(
		filepath.Join(home, "secrets.env"),
		true,
	); err != nil || vars["API_KEY"] != "plain value" ||
		len(vars) != 4 {
		t.Errorf("env file: %q, %v", vars, err)
	}
}

func uncomment(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "# ")
	}
	return strings.Join(lines, "\n")
}

// clearEmpty makes empty lists and maps nil, as they are in a value nobody wrote to.
func clearEmpty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			clearEmpty(v.Field(i))
		}
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			v.SetZero()
		}
	}
}

func keys(t reflect.Type, out []string) []string {
	if t.Kind() != reflect.Struct {
		return out
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" {
			out = append(out, name)
		}
		out = keys(t.Field(i).Type, out)
	}
	return out
}

// The built-in prompts are skipped by Load's template check, so they are checked here:
// they parse, include only parts that exist, and use only the documented data.
func TestBuiltinTemplates(t *testing.T) {
	c := load(t, config.Homes{})
	data := map[string]any{
		"Agent":     "code",
		"Provider":  "p",
		"WorkDir":   "/w",
		"LaunchDir": "/l",
		"Vars":      map[string]string{},
		"Mode":      map[string]any{"Name": "plan"},
		"Model":     map[string]any{"Name": "m"},
		"Sandbox": map[string]any{
			"Enabled": true,
			"Display": "box",
		},
		"ReadBefore": map[string]any{"Write": true, "Delete": false},
		"ToolPolicy": map[string]any{"Display": "rules"},
		"Hooks":      map[string]any{"Active": nil, "Display": "hooks"},
		"Tools":      map[string]any{"Eager": []string{"Read"}, "Deferred": "index"},
	}
	for _, p := range c.Prompts {
		tpl, err := templates.New(p.Name).Parse(p.Body)
		if err != nil {
			t.Fatal(err)
		}
		tpl.Option("missingkey=error")
		for _, part := range config.TemplateParts() {
			if _, err := tpl.New(part).Parse("[" + part + "]"); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		if err := tpl.Execute(&b, data); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"[agent]", "[files]", "[instructions]", "## Active Mode: plan\n\n[mode]", "/w", "box", "rules", "hooks",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", p.Name, want, b.String())
			}
		}
	}
	for _, a := range c.Agents {
		if _, err := templates.New(a.Name).Parse(a.Body); err != nil || a.Body == "" {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	for _, m := range c.Modes {
		if _, err := templates.New(m.Name).Parse(m.Body); err != nil || m.Body == "" {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
