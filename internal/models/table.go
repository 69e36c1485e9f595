package models

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"strings"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/anthropic"
	"github.com/idelchi/aura/internal/provider/google"
	"github.com/idelchi/aura/internal/provider/ollama"
	"github.com/idelchi/aura/internal/provider/openai"
	"github.com/idelchi/aura/internal/provider/script"
)

// ProviderType is one row: a wire format that servers speak. config.ProviderTypes has the
// names.
type ProviderType struct {
	Name       string // Value of `type`.
	Token      bool   // The type's own server refuses requests without a token.
	KnowsModel bool   // The client knows its model: none is chosen for it.

	// New makes the client of a provider that has been expanded.
	New func(p config.Provider, o provider.Options) (provider.Client, error)
}

// ProviderTypes is the table of the provider types: how their clients are made, and what
// they want.
func ProviderTypes() []ProviderType {
	return []ProviderType{
		{Name: "openai", Token: true, New: newOpenAI},
		{Name: "anthropic", Token: true, New: newAnthropic},
		{Name: "google", Token: true, New: newGoogle},
		{Name: "ollama", New: newOllama},
		{Name: "script", KnowsModel: true, New: newScript},
	}
}

// Server is one row: a server that works by its name alone. config.KnownProviders has the
// names. The one that is called like its type is the type's own server.
type Server struct {
	Name  string
	Type  string
	URL   string // Empty is the address that the client knows.
	Token bool   // It refuses requests without a token; for one with a URL.
	Model string // Used where nobody names one; empty asks the server.
	Local string // Where one that runs on this machine is looked for when nothing names a server.

	TokenEnv []string            // Variables that hold the token, best first.
	URLEnv   string              // Variable that holds the address when it is set.
	Address  func(string) string // Makes an address of what the variable says; nil takes it as it is.
}

// Servers is the table of the servers, in the order in which FromEnv tries them.
func Servers() []Server {
	return []Server{
		{
			Name: "anthropic", Type: "anthropic", Model: "claude-sonnet-4-5",
			TokenEnv: []string{"ANTHROPIC_API_KEY"},
		},
		{
			Name: "openai", Type: "openai", Model: "gpt-5",
			TokenEnv: []string{"OPENAI_API_KEY"}, URLEnv: "OPENAI_BASE_URL",
		},
		{
			Name: "google", Type: "google", Model: "gemini-2.5-pro",
			TokenEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		},
		{
			Name: "openrouter", Type: "openai", Model: "anthropic/claude-sonnet-4.5",
			URL: "https://openrouter.ai/api/v1", Token: true, TokenEnv: []string{"OPENROUTER_API_KEY"},
		},
		{
			Name: "ollama", Type: "ollama", Model: "qwen3-coder", Local: "127.0.0.1:11434",
			URLEnv: "OLLAMA_HOST", Address: ollamaURL,
		},
		{Name: "llamacpp", Type: "openai", URL: "http://127.0.0.1:8080/v1"},
	}
}

func newOpenAI(p config.Provider, o provider.Options) (provider.Client, error) {
	return openai.New(o, p.API), nil
}

func newAnthropic(_ config.Provider, o provider.Options) (provider.Client, error) {
	return anthropic.New(o), nil
}

func newGoogle(_ config.Provider, o provider.Options) (provider.Client, error) {
	return google.New(o), nil
}

func newOllama(p config.Provider, o provider.Options) (provider.Client, error) {
	keep := ""
	if p.KeepAlive != nil {
		keep = p.KeepAlive.String()
	}
	return ollama.New(o, keep), nil
}

func newScript(p config.Provider, _ provider.Options) (provider.Client, error) {
	c, err := script.Load(p.Script)
	if err == nil {
		return c, nil
	}
	if missing, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Wrong("script", "%v (a path counts from the directory of this file)", missing)
	}
	return nil, err
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
