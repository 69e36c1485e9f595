package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/providers"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// ErrNoProvider says how to get a model.
var ErrNoProvider = errors.New(`no model provider: choose one of
  - set an API key: ` + providers.KeyVariables() + `
  - start a local Ollama server (found at its usual address, or through OLLAMA_HOST)
  - describe a provider in .aura/config/providers (run "aura init" for a template)
To see aura work without any of them, run "aura demo".`)

// model decides which model an agent talks to: what the command line says, else
// what the agent's file says, else what the environment offers. Where there is
// none, the first call of the model says so: commands work without.
func (a *App) model(m config.Model) (agent.Model, error) {
	out, err := a.findModel(m)
	if errors.Is(err, ErrNoProvider) || err != nil && a.opts.NoModel {
		out.Provider, out.Client, err = cmp.Or(out.Provider, "none"), unavailable{err}, nil
	}
	return out, err
}

func (a *App) findModel(m config.Model) (agent.Model, error) {
	out := agent.Model{
		Think: string(m.Think), Context: m.Context, Generation: m.Generation,
	}
	out.Generation.Context = m.Context
	out.Provider, out.Name = a.chosen(m)
	if a.opts.Noop {
		out.Provider, out.Name, out.Client = "noop", "noop", providers.Noop()
		return out, nil
	}
	p, model, err := a.provider(out.Provider)
	if err != nil {
		return out, err
	}
	out.Provider = p.Name
	if out.Client, err = a.client(p); err != nil {
		return out, err
	}
	if out.Name == "" {
		if out.Name, err = defaultModel(context.Background(), p, model, out.Client); err != nil {
			out.Client = undecided{p, out.Client}
		}
	}
	return out, nil
}

// chosen is the provider and model of an agent, the command line laid over its file.
func (a *App) chosen(m config.Model) (server, model string) {
	server, model = m.Provider, m.Name
	choice := a.picked()
	if choice.provider != "" && !strings.EqualFold(choice.provider, m.Provider) {
		server, model = choice.provider, "" // A model of one server means nothing to another.
	}
	if choice.model != "" {
		model = choice.model
	}
	return server, model
}

// pick is what the user chose in the session, or in the one that is resumed.
type pick struct{ provider, model string }

// picked is what the user chose, on the command line or since. a.mu is held, or
// nothing runs yet.
func (a *App) picked() pick {
	return pick{cmp.Or(a.pick.provider, a.opts.Choice.Provider), cmp.Or(a.pick.model, a.opts.Choice.Model)}
}

// setModel overrides the model of every agent from now on.
func (a *App) setModel(name string) error {
	old := a.setPick(pick{a.pick.provider, name})
	if err := a.agent.Reload(); err != nil {
		a.setPick(old)
		return err
	}
	return nil
}

func (a *App) setPick(p pick) (old pick) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, a.pick = a.pick, p
	return old
}

// restoreModel takes over the model that was chosen in a session that is resumed,
// where the command line chooses no other. A provider that is gone is told of.
func (a *App) restoreModel(m session.Switches) {
	next := pick{m.Provider, m.Model}
	if a.opts.Choice.Provider != "" {
		next = pick{}
	}
	if a.opts.Choice.Model != "" {
		next.model = ""
	}
	if next.provider != "" {
		a.mu.Lock()
		p, _, err := a.provider(next.provider)
		if err == nil {
			_, err = a.client(p)
		}
		a.mu.Unlock()
		if err != nil {
			a.agent.Notice("resume", fmt.Sprintf("%v; the model is not that of the session", err))
			next = pick{}
		}
	}
	a.setPick(next)
}

// provider finds a provider by name, or one in the environment, with the model
// that goes with it.
func (a *App) provider(name string) (config.Provider, string, error) {
	if name != "" {
		p, err := providers.Find(a.cfg, name)
		return p, providers.DefaultModel(name), err
	}
	if len(a.cfg.Providers) == 1 { // The only one somebody cared to write down.
		p := a.cfg.Providers[0]
		return p, providers.DefaultModel(p.Name), nil
	}
	if p, model, ok := providers.FromEnv(a.env.get); ok {
		if own, err := providers.Find(a.cfg, p.Name); err == nil { // The user may have described it.
			p = own
		}
		return p, model, nil
	}
	if listening("127.0.0.1:11434") {
		p, err := providers.Find(a.cfg, "ollama")
		return p, "", err
	}
	if len(a.cfg.Providers) == 0 {
		return config.Provider{}, "", ErrNoProvider
	}
	return config.Provider{}, "", undecidedError(a.cfg.Providers)
}

// undecidedError is ErrNoProvider where several are described and none is chosen.
type undecidedError []config.Provider

func (e undecidedError) Is(target error) bool { return target == ErrNoProvider }

func (e undecidedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no model provider is chosen: %d are described\n", len(e))
	for _, p := range e {
		fmt.Fprintf(&b, "  - %s, in %s:%d\n", p.Name, p.Source.File, p.Source.Line)
	}
	fmt.Fprintf(
		&b,
		"Give --provider %s (or AURA_PROVIDER), or write model: {provider: %s} into the agent's file.",
		e[0].Name,
		e[0].Name,
	)
	return b.String()
}

// listening reports whether something answers at a local address.
func listening(address string) bool {
	conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// client returns the client of a provider, made when it is first needed.
func (a *App) client(p config.Provider) (provider.Client, error) {
	key := strings.ToLower(p.Name)
	if c, ok := a.clients[key]; ok {
		return c, nil
	}
	p, err := providers.Expand(p, a.env.get)
	if err != nil {
		return nil, err
	}
	c, err := providers.New(p, a.log)
	if err != nil {
		return nil, err
	}
	a.clients[key] = c
	return c, nil
}

// defaultModel chooses a model where nobody named one.
func defaultModel(ctx context.Context, p config.Provider, usual string, c provider.Client) (string, error) {
	if providers.KnowsModel(p) {
		return c.Model(ctx, "").Name, nil
	}
	if usual != "" {
		return usual, nil
	}
	ctx, cancel := context.WithTimeout(provider.Once(ctx), 3*time.Second)
	defer cancel()
	models, err := listed(ctx, p, c)
	if err != nil {
		return "", fmt.Errorf(
			"provider %s: no model is set, and the server could not be asked for one: %w",
			p.Name,
			err,
		)
	}
	if len(models) == 0 {
		return "", fmt.Errorf("provider %s: no model is set, and the server has none", p.Name)
	}
	return models[0].Name, nil
}

// Models lists the models of a provider that its filters let through; an empty
// name means the provider of the active agent.
func (a *App) Models(ctx context.Context, name string) (string, []sdk.ModelInfo, error) {
	a.mu.Lock()
	if name == "" && a.agent != nil {
		if active, err := a.cfg.Provider(a.agent.Profile().Model.Provider); err == nil {
			name = active.Name
		}
	}
	p, _, err := a.provider(name)
	var c provider.Client
	if err == nil {
		c, err = a.client(p)
	}
	a.mu.Unlock()
	if err != nil {
		return "", nil, err
	}
	models, err := listed(ctx, p, c)
	slices.SortFunc(models, func(x, y sdk.ModelInfo) int { return strings.Compare(x.Name, y.Name) })
	return p.Name, models, err
}

// listed are the models of a server that the filters of its provider let through.
func listed(ctx context.Context, p config.Provider, c provider.Client) ([]sdk.ModelInfo, error) {
	models, err := c.Models(ctx)
	keep := tool.Filter{Enabled: p.Models.Include, Disabled: p.Models.Exclude}
	return slices.DeleteFunc(models, func(m sdk.ModelInfo) bool { return !keep.Allows(m.Name) }), err
}

// undecided is the client of a provider whose server could not be asked for a
// model. It asks again when a model is called: the server may be there by then.
type undecided struct {
	p      config.Provider
	client provider.Client
}

func (u undecided) Chat(
	ctx context.Context,
	req *provider.Request,
	on func(provider.Delta),
) (*provider.Response, error) {
	name, err := defaultModel(ctx, u.p, "", u.client)
	if err != nil {
		return nil, err
	}
	named := *req
	named.Model = name
	return u.client.Chat(ctx, &named, on)
}
func (u undecided) Models(ctx context.Context) ([]sdk.ModelInfo, error) { return u.client.Models(ctx) }
func (u undecided) Model(_ context.Context, name string) sdk.ModelInfo {
	return sdk.ModelInfo{Name: name}
}

// unavailable is the client of a session that has no provider.
type unavailable struct{ err error }

func (u unavailable) Chat(context.Context, *provider.Request, func(provider.Delta)) (*provider.Response, error) {
	return nil, u.err
}
func (u unavailable) Models(context.Context) ([]sdk.ModelInfo, error) { return nil, u.err }
func (u unavailable) Model(_ context.Context, name string) sdk.ModelInfo {
	return sdk.ModelInfo{Name: name}
}
