package config

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// ProviderTypes are the types that a provider may have. Package models has the table of
// them.
func ProviderTypes() []string {
	field, _ := reflect.TypeFor[Provider]().FieldByName("Type")
	return strings.Fields(field.Tag.Get("enum"))
}

// KnownProviders are the names that need no file. Package models has the table of them.
func KnownProviders() []string {
	return []string{"anthropic", "openai", "google", "openrouter", "ollama", "llamacpp"}
}

// Provider says how to reach one model server.
type Provider struct {
	Source Source `yaml:"-"`
	Name   string `yaml:"-"` // Key in the file. Compared without regard to case.

	Type      string            `yaml:"type" enum:"openai anthropic google ollama script"`
	URL       string            `yaml:"url"`   // Empty is the type's own server.
	Token     string            `yaml:"token"` // $VAR and ${VAR} are filled in by package models.
	Timeout   time.Duration     `yaml:"timeout"`
	API       string            `yaml:"api" enum:"chat responses"` // Of type openai; empty is chat.
	Headers   map[string]string `yaml:"headers"`                   // Values expand like Token.
	Retry     Retry             `yaml:"retry"`
	KeepAlive *time.Duration    `yaml:"keep_alive" min:"-1"` // Of type ollama; negative keeps the model loaded.
	Models    ModelFilter       `yaml:"models"`
	Script    string            `yaml:"script"` // Of type script: the file to play, absolute after loading.

	lines map[string]int // Where keys are in the file, "headers.x" among them.
}

// Wrong is a mistake in the value of a key that shows only when it is used.
func (p Provider) Wrong(key, format string, args ...any) *Error {
	return &Error{File: p.Source.File, Line: p.line(key), Path: p.Name + "." + key, Msg: fmt.Sprintf(format, args...)}
}

func (p Provider) line(key string) int { return cmp.Or(p.lines[key], p.Source.Line) }

// locate remembers where the keys of the provider are.
func (p *Provider) locate(d *strictyaml.Decoder, n *yaml.Node) {
	p.lines = map[string]int{}
	strictyaml.Each(n, func(key, value *yaml.Node) {
		p.lines[key.Value] = d.LineOf(key)
		strictyaml.Each(value, func(inner, _ *yaml.Node) { p.lines[key.Value+"."+inner.Value] = d.LineOf(inner) })
	})
}

// Retry says how often a failed request is sent again and how long between.
type Retry struct {
	MaxAttempts int           `yaml:"max_attempts" min:"0" max:"20"` // 0 switches retries off.
	BaseDelay   time.Duration `yaml:"base_delay"`
	MaxDelay    time.Duration `yaml:"max_delay"`
}

// ModelFilter chooses which models are listed, by pattern.
type ModelFilter struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// SetDefaults fills in what a provider has before its keys are read.
func (p *Provider) SetDefaults() {
	p.Timeout = 5 * time.Minute
	p.Retry = Retry{MaxAttempts: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}
}

// ExpandVariables fills in $VAR and ${VAR}, makes `$$` a `$`, and names the first variable
// that is not set. Text that only looks like a variable stays as it is.
func ExpandVariables(text string, getenv func(string) string) (out, missing string) {
	var b strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			break
		}
		name, tail := variable(rest)
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			tail = rest[1:]
		case name == "":
			b.WriteByte('$')
			tail = rest
		default:
			value := getenv(name)
			if value == "" && missing == "" {
				missing = name
			}
			b.WriteString(value)
		}
		text = tail
	}
	return b.String(), missing
}

// variable reads a name, bare or in braces, off the start of text.
func variable(text string) (name, rest string) {
	inner, braced := strings.CutPrefix(text, "{")
	n := 0
	for n < len(inner) && wordByte(inner[n], n == 0) {
		n++
	}
	name, rest = inner[:n], inner[n:]
	if braced {
		if !strings.HasPrefix(rest, "}") {
			return "", text
		}
		rest = rest[1:]
	}
	return name, rest
}

func wordByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// check finds mistakes between keys and makes paths absolute.
func (p *Provider) check(d *strictyaml.Decoder, n *yaml.Node) {
	bad := func(key, format string, args ...any) {
		at := strictyaml.Find(n, key)
		if at == nil {
			at = &yaml.Node{Line: p.Source.Line}
		}
		d.Errorf(at, p.Name+"."+key, format, args...)
	}
	if types := ProviderTypes(); p.Type == "" {
		last := len(types) - 1
		bad("type", "missing (%s or %s)", strings.Join(types[:last], ", "), types[last])
	}
	if p.URL != "" && !strings.Contains(p.URL, "$") {
		if u, err := url.Parse(p.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			bad("url", "%q is not an http or https address", wording.Short(p.URL))
		}
	}
	switch {
	case p.Type == "script" && p.Script == "":
		bad("script", "missing (path of the script to play)")
	case p.Type != "script" && p.Type != "" && p.Script != "":
		bad("script", "only type script has one")
	case p.Script != "" && !filepath.IsAbs(p.Script):
		p.Script = filepath.Join(filepath.Dir(p.Source.File), filepath.FromSlash(p.Script))
	}
	if p.API != "" && p.Type != "" && p.Type != "openai" {
		bad("api", "only type openai has one")
	}
}

// String never shows the token.
func (p Provider) String() string { return fmt.Sprintf("%s (%s)", p.Name, p.Type) }
