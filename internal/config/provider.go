package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// Provider says how to reach one model server.
type Provider struct {
	Source Source `yaml:"-"`
	Name   string `yaml:"-"` // Key in the file. Compared without regard to case.

	Type      string            `yaml:"type" enum:"openai anthropic google ollama script"`
	URL       string            `yaml:"url"`   // Empty is the type's own server.
	Token     string            `yaml:"token"` // $VAR and ${VAR} are filled in by Expand.
	Timeout   time.Duration     `yaml:"timeout"`
	API       string            `yaml:"api" enum:"chat responses"` // Of type openai; empty is chat.
	Headers   map[string]string `yaml:"headers"`                   // Values expand like Token.
	Retry     Retry             `yaml:"retry"`
	KeepAlive *time.Duration    `yaml:"keep_alive" min:"-1"` // Of type ollama; negative keeps the model loaded.
	Models    ModelFilter       `yaml:"models"`
	Script    string            `yaml:"script"` // Of type script: the file to play, absolute after loading.

	tokenEnv []string // Variables that hold the token when Token is empty.
	urlEnv   string   // Variable that holds the address when it is set.

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

// Expand returns the provider ready for use: $VAR and ${VAR} in URL, token and headers
// filled in, `$$` made `$`, and a token that is empty or names a variable that is not set
// taken from AURA_PROVIDERS_<NAME>_TOKEN or, when the provider has no URL of its own, from the
// usual variables of its type. No token is no error; a variable that is not set is one.
func (p Provider) Expand(getenv func(string) string) (Provider, error) {
	var errs Errors
	fill := func(key, text string) string {
		out, missing := expand(text, getenv)
		if missing != "" {
			errs = append(errs, p.Wrong(key, "$%s is not set", missing))
		}
		return out
	}
	p.URL = fill("url", p.URL)
	if p.urlEnv != "" && getenv(p.urlEnv) != "" {
		p.URL = getenv(p.urlEnv)
	}
	if p.urlEnv == ollamaHost {
		p.URL = ollamaURL(p.URL)
	}
	if own := getenv(TokenVariable(p.Name)); own != "" && (p.Token == "" || !expands(p.Token, getenv)) {
		p.Token = own
	} else {
		p.Token = fill("token", p.Token)
	}
	for _, name := range p.tokenEnv {
		if p.Token == "" {
			p.Token = getenv(name)
		}
	}
	if len(p.Headers) > 0 {
		headers := make(map[string]string, len(p.Headers))
		for name, text := range p.Headers {
			headers[name] = fill("headers."+name, text)
		}
		p.Headers = headers
	}
	return p, errs.Err()
}

func expands(text string, getenv func(string) string) bool {
	_, missing := expand(text, getenv)
	return missing == ""
}

// TokenVariable is the environment variable that holds the token of a provider whose
// file names none: AURA_PROVIDERS_<NAME>_TOKEN, other characters as "_".
func TokenVariable(provider string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, strings.ToUpper(provider))
	return "AURA_PROVIDERS_" + name + "_TOKEN"
}

// expand fills in variables and names the first one that is not set. Text that only
// looks like a variable stays as it is.
func expand(text string, getenv func(string) string) (out, missing string) {
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
	if p.Type == "" {
		bad("type", "missing (openai, anthropic, google, ollama or script)")
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

// known is a provider that needs no file.
type known struct {
	provider Provider
	env      []string // Variables that hold its token, best first.
	urlEnv   string
	model    string // Used when an agent names none.
}

const ollamaHost = "OLLAMA_HOST"

// wellKnown lists the providers that work by name alone, in the order in which FromEnv tries them.
func wellKnown() []known {
	return []known{
		{Provider{Name: "anthropic", Type: "anthropic"}, []string{"ANTHROPIC_API_KEY"}, "", "claude-sonnet-4-5"},
		{Provider{Name: "openai", Type: "openai"}, []string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", "gpt-5"},
		{Provider{Name: "google", Type: "google"}, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, "", "gemini-2.5-pro"},
		{
			Provider{Name: "openrouter", Type: "openai", URL: "https://openrouter.ai/api/v1"},
			[]string{"OPENROUTER_API_KEY"},
			"",
			"anthropic/claude-sonnet-4.5",
		},
		{Provider{Name: "ollama", Type: "ollama"}, nil, ollamaHost, "qwen3-coder"},
		{Provider{Name: "llamacpp", Type: "openai", URL: "http://127.0.0.1:8080/v1"}, nil, "", ""},
	}
}

// WellKnown names the providers that work by name alone.
func WellKnown() (names []string) {
	for _, k := range wellKnown() {
		names = append(names, k.provider.Name)
	}
	return names
}

// build is the provider of a row.
func (k known) build() Provider {
	p := k.provider
	p.SetDefaults()
	p.Source.File = "builtin:providers/" + p.Name
	p.tokenEnv, p.urlEnv = k.env, k.urlEnv
	return p
}

// adopt lets a provider from a file use the usual variables of its type. With a URL of its
// own it does not: a key must not travel to a server it was not made for.
func (p *Provider) adopt() {
	for _, k := range wellKnown() {
		if p.URL == "" && p.Type == k.provider.Type && p.Type == k.provider.Name {
			p.tokenEnv, p.urlEnv = k.env, k.urlEnv
		}
	}
}

// ollamaURL understands the forms of OLLAMA_HOST: an address, host:port or host alone.
func ollamaURL(host string) string {
	if host == "" {
		return "http://127.0.0.1:11434"
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Host == "" {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "0.0.0.0" || name == "::" || name == "" {
		name = "127.0.0.1" // What a server listens on is no address to call.
	}
	if port == "" && u.Scheme == "http" {
		port = "11434"
	}
	u.Host = name
	if port != "" {
		u.Host = net.JoinHostPort(name, port)
	}
	return strings.TrimSuffix(u.String(), "/")
}

// FromEnv chooses a provider and model when no agent names one. The first of these that
// is set decides: ANTHROPIC_API_KEY, OPENAI_API_KEY (address from OPENAI_BASE_URL),
// GEMINI_API_KEY or GOOGLE_API_KEY, OPENROUTER_API_KEY, OLLAMA_HOST; for each of the first four
// its AURA_PROVIDERS_<NAME>_TOKEN counts too. Nothing is contacted; call Expand before use.
func FromEnv(getenv func(string) string) (name string, p Provider, model string, ok bool) {
	for _, k := range wellKnown() {
		deciding := k.env
		switch {
		case k.model == "":
			continue
		case len(k.env) == 0:
			deciding = []string{k.urlEnv}
		default:
			deciding = append([]string{TokenVariable(k.provider.Name)}, deciding...)
		}
		for _, variable := range deciding {
			if getenv(variable) != "" {
				return k.provider.Name, k.build(), k.model, true
			}
		}
	}
	return "", Provider{}, "", false
}

// DefaultModel is the model used with a well-known provider when an agent names none;
// empty for other providers.
func DefaultModel(provider string) string {
	for _, k := range wellKnown() {
		if strings.EqualFold(k.provider.Name, provider) {
			return k.model
		}
	}
	return ""
}

// String never shows the token.
func (p Provider) String() string { return fmt.Sprintf("%s (%s)", p.Name, p.Type) }
