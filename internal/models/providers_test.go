package models

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
)

// The configuration knows the names of the tables, and every row can be used.
func TestTables(t *testing.T) {
	var types, servers []string
	for _, row := range ProviderTypes() {
		types = append(types, row.Name)
		c, err := newClient(config.Provider{Name: "p", Type: row.Name, Script: "none"}, slog.New(slog.DiscardHandler))
		if (c == nil) != (row.Name == "script") || (err == nil) != (c != nil) {
			t.Errorf("%s: client %v, %v", row.Name, c, err)
		}
	}
	if !slices.Equal(types, config.ProviderTypes()) {
		t.Errorf("types %v, in the configuration %v", types, config.ProviderTypes())
	}
	for _, row := range Servers() {
		servers = append(servers, row.Name)
		p, err := providerNamed(&config.Config{}, strings.ToUpper(row.Name))
		if err != nil || p.Name != row.Name || !slices.Contains(types, p.Type) || p.URL != row.URL || p.Timeout == 0 {
			t.Errorf("%s: %+v, %v", row.Name, p, err)
		}
	}
	if !slices.Equal(servers, config.KnownProviders()) {
		t.Errorf("servers %v, in the configuration %v", servers, config.KnownProviders())
	}
	if _, err := providerNamed(&config.Config{}, "antropic"); err == nil {
		t.Error("a server that does not exist was found")
	}
	if _, err := newClient(config.Provider{Name: "p", Type: "x"}, nil); err == nil {
		t.Error("a type that does not exist has a client")
	}
}

func TestTokenless(t *testing.T) {
	for _, tt := range []struct {
		p    config.Provider
		want bool
	}{
		{config.Provider{Type: "openai"}, true},
		{config.Provider{Type: "google", Token: "t"}, false},
		{config.Provider{Type: "anthropic", Headers: map[string]string{"X": "y"}}, false},
		{config.Provider{Type: "openai", URL: "http://box/v1"}, false},
		{config.Provider{Type: "openai", URL: "https://openrouter.ai/api/v1"}, true},
		{config.Provider{Type: "openai", URL: "https://openrouter.ai.example/v1"}, false},
		{config.Provider{Type: "ollama"}, false},
		{config.Provider{Type: "script"}, false},
		{config.Provider{}, false},
	} {
		if got := Tokenless(tt.p); got != tt.want {
			t.Errorf("%+v: got %v", tt.p, got)
		}
	}
}

func TestKeyVariables(t *testing.T) {
	want := "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY"
	if got := KeyVariables(); got != want {
		t.Errorf("got %q", got)
	}
}

func getenv(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFromEnv(t *testing.T) {
	for _, tt := range []struct {
		env                   map[string]string
		name, typ, url, token string
		hasModel              bool
	}{
		{nil, "", "", "", "", false},
		{map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o"}, "anthropic", "anthropic", "", "k", true},
		{map[string]string{"OPENAI_API_KEY": "o$x", "GEMINI_API_KEY": "g"}, "openai", "openai", "", "o$x", true},
		{
			map[string]string{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://x/v1"}, "openai", "openai",
			"http://x/v1", "o", true,
		},
		{map[string]string{"GOOGLE_API_KEY": "g", "OPENROUTER_API_KEY": "r"}, "google", "google", "", "g", true},
		{map[string]string{"GOOGLE_API_KEY": "g", "GEMINI_API_KEY": "first"}, "google", "google", "", "first", true},
		{
			map[string]string{"OPENROUTER_API_KEY": "r", "OLLAMA_HOST": "h"}, "openrouter", "openai",
			"https://openrouter.ai/api/v1", "r", true,
		},
		{map[string]string{"AURA_PROVIDERS_GOOGLE_TOKEN": "t"}, "google", "google", "", "t", true},
		{map[string]string{"OLLAMA_HOST": "0.0.0.0"}, "ollama", "ollama", "http://127.0.0.1:11434", "", true},
		{map[string]string{"OLLAMA_HOST": "box:1234"}, "ollama", "ollama", "http://box:1234", "", true},
		{map[string]string{"OLLAMA_HOST": "https://box/"}, "ollama", "ollama", "https://box", "", true},
		{map[string]string{"OLLAMA_HOST": "http://[::1]:99"}, "ollama", "ollama", "http://[::1]:99", "", true},
	} {
		p, model, ok := FromEnv(getenv(tt.env))
		name := p.Name
		if ok != (tt.name != "") || name != tt.name || (model != "") != tt.hasModel {
			t.Errorf("%v: %s %s %v", tt.env, name, model, ok)
			continue
		}
		if !ok {
			continue
		}
		p, err := Expand(p, getenv(tt.env))
		if err != nil || p.Type != tt.typ || p.URL != tt.url || p.Token != tt.token || p.Timeout == 0 {
			t.Errorf("%v: %+v, %v", tt.env, p, err)
		}
		if defaultModelOf(strings.ToUpper(name)) != model {
			t.Errorf("default model of %s", name)
		}
	}
}

func TestExpand(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config", "providers", "p.yaml")
	src := `a:
  type: openai
  url: http://${HOST}:1/v1
  token: pre-$KEY-${KEY}$$-$1
  headers: {X-Key: $KEY}
  keep_alive: -1
b: {type: openai, url: "http://x", token: $NONE}
my-own: {type: anthropic}
local: {type: openai, url: "http://x"}
`
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(src), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Homes{Global: home})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOST": "h", "KEY": "k", "OPENAI_API_KEY": "leak", "ANTHROPIC_API_KEY": "ant"}
	expand := func(name string) (config.Provider, error) {
		p, err := providerNamed(c, name)
		if err != nil {
			t.Fatal(err)
		}
		return Expand(p, getenv(env))
	}
	if p, err := expand(
		"a",
	); err != nil || p.URL != "http://h:1/v1" || p.Token != "pre-k-k$-$1" || p.Headers["X-Key"] != "k" ||
		*p.KeepAlive >= 0 {
		t.Errorf("a: %+v, %v", p, err)
	}
	if _, err := expand("b"); fmt.Sprint(err) != file+":7: b.token: $NONE is not set" {
		t.Errorf("b: %v", err)
	}
	if p, err := expand("my-own"); err != nil || p.Token != "ant" {
		t.Errorf("my-own: %+v, %v", p, err)
	}
	if p, err := expand("local"); err != nil || p.Token != "" {
		t.Errorf("a key went to a foreign server: %+v, %v", p, err)
	}
	env["AURA_PROVIDERS_B_TOKEN"], env["AURA_PROVIDERS_MY_OWN_TOKEN"] = "own$x", "own"
	if p, err := expand("b"); err != nil || p.Token != "own$x" {
		t.Errorf("b: %+v, %v", p, err)
	}
	if p, err := expand("my-own"); err != nil || p.Token != "own" {
		t.Errorf("my-own: %+v, %v", p, err)
	}
	if p, _ := c.Provider("a"); p.Headers["X-Key"] != "$KEY" || strings.Contains(p.String(), "KEY") {
		t.Errorf("the configuration was changed: %v", p)
	}
}
