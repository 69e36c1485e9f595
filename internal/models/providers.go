package models

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/provider"
)

// providerNamed finds a provider by name without regard to case: one that a file
// describes, or one of Servers. Call Expand on the result before use.
func providerNamed(c *config.Config, name string) (config.Provider, error) {
	p, err := c.Provider(name)
	if s, ok := server(p.Name); ok && p.Source.Builtin() {
		p = s.provider()
	}
	return p, err
}

// server finds a row of Servers without regard to case.
func server(name string) (Server, bool) {
	return find(Servers(), func(s Server) bool { return strings.EqualFold(s.Name, name) })
}

// typeOf finds the row of a provider's type.
func typeOf(p config.Provider) (ProviderType, bool) {
	return find(ProviderTypes(), func(t ProviderType) bool { return t.Name == p.Type })
}

func find[T any](list []T, match func(T) bool) (row T, ok bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	return row, false
}

// provider is the provider of a row.
func (s Server) provider() config.Provider {
	p := config.Provider{Name: s.Name, Type: s.Type, URL: s.URL}
	p.SetDefaults()
	p.Source.File = "builtin:providers/" + s.Name
	return p
}

// serverOf finds the row whose variables a provider may use: its own, or for one from a
// file that of the type's own server. With a URL of its own it has none: a key must not
// travel to a server it was not made for.
func serverOf(p config.Provider) (Server, bool) {
	if p.Source.Builtin() {
		return server(p.Name)
	}
	if p.URL != "" {
		return Server{}, false
	}
	s, ok := server(p.Type)
	return s, ok && s.Type == p.Type
}

// Expand returns the provider ready for use: $VAR and ${VAR} in URL, token and headers
// filled in, `$$` made `$`, and a token that is empty or names a variable that is not set
// taken from TokenVariable or, when the provider has no URL of its own, from the usual
// variables of its type. No token is no error; a variable that is not set is one. All are
// reported, as config.Errors.
func Expand(p config.Provider, getenv func(string) string) (config.Provider, error) {
	var errs config.Errors
	fill := func(key, text string) string {
		out, missing := config.ExpandVariables(text, getenv)
		if missing != "" {
			errs = append(errs, p.Wrong(key, "$%s is not set", missing))
		}
		return out
	}
	row, _ := serverOf(p)
	p.URL = fill("url", p.URL)
	if row.URLEnv != "" && getenv(row.URLEnv) != "" {
		p.URL = getenv(row.URLEnv)
	}
	if row.Address != nil {
		p.URL = row.Address(p.URL)
	}
	_, missing := config.ExpandVariables(p.Token, getenv)
	if own := getenv(TokenVariable(p.Name)); own != "" && (p.Token == "" || missing != "") {
		p.Token = own
	} else {
		p.Token = fill("token", p.Token)
	}
	for _, name := range row.TokenEnv {
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

// KeyVariables are the variables in which the servers of the table expect their tokens, as
// a sentence lists them: "A, B or C".
func KeyVariables() string {
	var names []string
	for _, s := range Servers() {
		if len(s.TokenEnv) > 0 {
			names = append(names, s.TokenEnv[0])
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// FromEnv chooses a provider and model when no agent names one: the first of Servers that
// has a model and whose token is set, by TokenVariable or its own variables, or whose
// address is, if it wants no token. Nothing is contacted; call Expand before use.
func FromEnv(getenv func(string) string) (p config.Provider, model string, ok bool) {
	for _, s := range Servers() {
		deciding := []string{s.URLEnv}
		if len(s.TokenEnv) > 0 {
			deciding = append([]string{TokenVariable(s.Name)}, s.TokenEnv...)
		}
		set := func(variable string) bool { return getenv(variable) != "" }
		if s.Model != "" && slices.ContainsFunc(deciding, set) {
			return s.provider(), s.Model, true
		}
	}
	return config.Provider{}, "", false
}

// defaultModelOf is the model used with a server of the table when an agent names none;
// empty for other providers.
func defaultModelOf(provider string) string {
	s, _ := server(provider)
	return s.Model
}

// knowsModel reports whether the client of a provider knows its model.
func knowsModel(p config.Provider) bool {
	t, _ := typeOf(p)
	return t.KnowsModel
}

// Tokenless reports whether an expanded provider lacks the token that its server wants.
func Tokenless(p config.Provider) bool {
	if p.Token != "" || len(p.Headers) > 0 {
		return false
	}
	if p.URL == "" {
		t, _ := typeOf(p)
		return t.Token
	}
	return slices.ContainsFunc(Servers(), func(s Server) bool { return s.Token && sameHost(s.URL, p.URL) })
}

// sameHost reports whether address begins with the scheme and host of server.
func sameHost(server, address string) bool {
	scheme, rest, _ := strings.Cut(server, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.HasPrefix(address, scheme+"://"+host+"/")
}

// newClient makes the client of a provider that has been expanded.
func newClient(p config.Provider, log *slog.Logger) (provider.Client, error) {
	t, ok := typeOf(p)
	if !ok {
		return nil, fmt.Errorf("provider %s: unknown type %q", p.Name, p.Type)
	}
	return t.New(p, provider.Options{
		Name:    p.Name,
		URL:     p.URL,
		Token:   p.Token,
		Timeout: p.Timeout,
		Headers: p.Headers,
		Logger:  log,
		Retry: provider.Retry{
			MaxAttempts: &p.Retry.MaxAttempts,
			BaseDelay:   p.Retry.BaseDelay,
			MaxDelay:    p.Retry.MaxDelay,
		},
	})
}
