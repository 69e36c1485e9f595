package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/wording"
)

// reachTime is how long a model server gets to list its models.
const reachTime = 3 * time.Second

// ways are the ways to get a model.
func ways() string {
	return "set " + models.KeyVariables() + "; or start Ollama; or describe a provider in .aura/config/providers; " +
		"aura demo needs none"
}

// providers asks the server of the agent for its models, and looks at the settings of
// the others.
func providers(ctx context.Context, p *patient) []Finding {
	t, err := p.place.Target()
	if errors.Is(err, models.ErrNoProvider) {
		first, hint := "no model provider", ways()
		if names := described(p.place.Config()); len(names) > 0 {
			first, hint = fmt.Sprintf(
				"no agent names one of %s",
				strings.Join(names, ", "),
			), "give --provider, or set model.provider of the agent"
		}
		return append([]Finding{warn("provider", first, hint)}, others(p, "")...)
	}
	if err != nil {
		return append(mistakes("provider", err, ""), others(p, t.Provider.Name)...)
	}
	return append(reach(ctx, t), others(p, t.Provider.Name)...)
}

func described(cfg *config.Config) (names []string) {
	for _, p := range cfg.Providers {
		names = append(names, p.Name)
	}
	return names
}

// reach asks a server for its models.
func reach(ctx context.Context, t models.Target) []Finding {
	name := "provider " + t.Provider.Name
	if models.Tokenless(t.Provider) {
		return []Finding{fail(name, "no token", tokenHint(t.Provider))}
	}
	ctx, cancel := context.WithTimeout(provider.Once(ctx), reachTime)
	defer cancel()
	models, err := t.Client.Models(ctx)
	if err != nil {
		return []Finding{unreachable(name, t.Provider, err)}
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	list := []Finding{ok(name, fmt.Sprintf("answers, %s", wording.Count(len(names), "model")))}
	switch {
	case t.Model == "" && len(names) == 0:
		list = append(
			list,
			fail("model", "none is set, and the server has none", "give --model, or set model.name of the agent"),
		)
	case t.Model == "":
		list = append(list, ok("model", names[0]+" (the first of the server)"))
	case known(names, t.Model):
		list = append(list, ok("model", t.Model))
	default:
		hint := cmp.Or(wording.DidYouMean(t.Model, names), `"aura models" lists them`)
		list = append(
			list,
			warn("model", fmt.Sprintf("%q is not among the models of %s", t.Model, t.Provider.Name), hint),
		)
	}
	return list
}

// known reports whether a server lists a model. Ollama's names may lack the tag.
func known(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, name+":latest")
}

// unreachable says what to do about an error of a server.
func unreachable(name string, p config.Provider, err error) Finding {
	text := strings.TrimPrefix(err.Error(), p.Name+": ")
	switch provider.ClassOf(err) {
	case provider.Auth:
		return fail(name, text, tokenHint(p))
	case provider.Network:
		hint := "is the network there?"
		if p.URL != "" {
			hint = fmt.Sprintf("does a server run at %s?", redacted(p.URL))
		}
		return fail(name, text, hint)
	case provider.RateLimit, provider.Server:
		return warn(name, text, "it answers; try again later")
	case provider.ModelUnavailable:
		return warn(name, "its models cannot be listed: "+text, "it answers; it may work all the same")
	}
	return fail(name, text, "")
}

// others looks at the settings of the providers that are not asked.
func others(p *patient, active string) []Finding {
	var list []Finding
	for _, x := range p.place.Config().Providers {
		if strings.EqualFold(x.Name, active) {
			continue
		}
		name := "provider " + x.Name
		full, err := models.Expand(x, p.place.Getenv)
		switch u, urlErr := url.Parse(full.URL); {
		case err != nil:
			for _, f := range mistakes(name, err, "nothing uses it now") {
				f.Level = Warn
				list = append(list, f)
			}
		case full.URL != "" && (urlErr != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https"):
			list = append(
				list,
				warn(
					name,
					fmt.Sprintf("url %q is no http address", redacted(full.URL)),
					fmt.Sprintf("correct %s:%d", x.Source.File, x.Source.Line),
				),
			)
		case models.Tokenless(full):
			list = append(list, warn(name, "no token", tokenHint(x)))
		default:
			list = append(list, ok(name, "not asked: no agent that starts uses it"))
		}
	}
	return list
}

func tokenHint(p config.Provider) string {
	hint := "set " + models.TokenVariable(p.Name)
	if p.Source.Builtin() {
		return hint + " or the usual variable of the provider"
	}
	return fmt.Sprintf("%s, or token: in %s:%d", hint, p.Source.File, p.Source.Line)
}

// redacted is an address without its password.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}
