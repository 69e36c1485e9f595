// Package models decides which model an agent talks to, and holds the clients of the
// model servers: the table of the provider types is here. It makes no request by itself
// except to ask a server what it has.
package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/filter"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/script"
)

// ErrNoProvider says how to get a model.
var ErrNoProvider = errors.New(`no model provider: choose one of
  - set an API key: ` + KeyVariables() + `
  - start a local Ollama server (found at its usual address, or through OLLAMA_HOST)
  - describe a provider in .aura/config/providers (run "aura init" for a template)
To see aura work without any of them, run "aura demo".`)

// Options say what there is to choose from.
type Options struct {
	Config  *config.Config
	Getenv  func(name string) string
	Logger  *slog.Logger
	Choice  Choice // Of the command line.
	Noop    bool   // Every model answers "[noop]".
	Lenient bool   // No model is asked anything: a provider that is wrong is no error.
}

// Choice is a provider and model that override those of every agent. The zero value
// overrides nothing.
type Choice struct{ Provider, Model string }

// Model is which model an agent talks to, and how.
type Model struct {
	Provider   string // Name in the configuration.
	Client     provider.Client
	Name       string
	Think      string // "off", "low", "medium", "high"; empty leaves it to the server.
	Context    int    // Overrides the context window; 0 takes the model's own.
	Generation provider.Generation
}

// Models finds models. Its methods may be called by several goroutines.
type Models struct {
	opts   Options
	picked *picked // Shared with the Models of later configurations.

	mu      sync.Mutex
	clients map[string]provider.Client
}

// picked is what the user chose in the session, or in the one that is resumed.
type picked struct {
	mu sync.Mutex
	Choice
}

// New returns the models of a configuration.
func New(o Options) *Models {
	return &Models{opts: o, picked: &picked{}, clients: map[string]provider.Client{}}
}

// Reload returns the models of another configuration. What the user picked stays.
func (m *Models) Reload(cfg *config.Config) *Models {
	next := New(m.opts)
	next.opts.Config, next.picked = cfg, m.picked
	return next
}

// For decides which model an agent talks to: what the command line says, else what the
// agent's file says, else what the environment offers. Where there is none, the first
// call of the model says so: commands work without.
func (m *Models) For(who config.Model) (Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, err := m.find(who)
	if errors.Is(err, ErrNoProvider) || err != nil && m.opts.Lenient {
		out.Provider, out.Client, err = cmp.Or(out.Provider, "none"), unavailable{err}, nil
	}
	return out, err
}

func (m *Models) find(who config.Model) (Model, error) {
	out := Model{Think: string(who.Think), Context: who.Context, Generation: who.Generation}
	out.Generation.Context = who.Context
	out.Provider, out.Name = m.chosen(who)
	if m.opts.Noop {
		out.Provider, out.Name, out.Client = "noop", "noop", script.Noop()
		return out, nil
	}
	p, model, err := m.provider(out.Provider)
	if err != nil {
		return out, err
	}
	out.Provider = p.Name
	if out.Client, err = m.client(p); err != nil {
		return out, err
	}
	if out.Name == "" {
		if out.Name, err = defaultModel(context.Background(), p, model, out.Client); err != nil {
			out.Client = undecided{p, out.Client}
		}
	}
	return out, nil
}

// chosen is the provider and model of an agent, what the user chose laid over its file.
func (m *Models) chosen(who config.Model) (server, model string) {
	server, model = who.Provider, who.Name
	choice := m.Choice()
	if choice.Provider != "" && !strings.EqualFold(choice.Provider, who.Provider) {
		server, model = choice.Provider, "" // A model of one server means nothing to another.
	}
	if choice.Model != "" {
		model = choice.Model
	}
	return server, model
}

// Choice is what the user chose, on the command line or since.
func (m *Models) Choice() Choice {
	m.picked.mu.Lock()
	defer m.picked.mu.Unlock()
	return Choice{
		cmp.Or(m.picked.Provider, m.opts.Choice.Provider), cmp.Or(m.picked.Model, m.opts.Choice.Model),
	}
}

// Pick overrides the model of every agent from now on. undo takes it back.
func (m *Models) Pick(model string) (undo func()) {
	m.picked.mu.Lock()
	old := m.picked.Choice
	m.picked.mu.Unlock()
	m.set(Choice{old.Provider, model})
	return func() { m.set(old) }
}

func (m *Models) set(c Choice) {
	m.picked.mu.Lock()
	defer m.picked.mu.Unlock()
	m.picked.Choice = c
}

// Restore takes over what was chosen in a session that is resumed, where the command
// line chooses nothing else. The error is about a provider that is gone.
func (m *Models) Restore(next Choice) error {
	if m.opts.Choice.Provider != "" {
		next = Choice{}
	}
	if m.opts.Choice.Model != "" {
		next.Model = ""
	}
	var err error
	if next.Provider != "" {
		m.mu.Lock()
		var p config.Provider
		if p, _, err = m.provider(next.Provider); err == nil {
			_, err = m.client(p)
		}
		m.mu.Unlock()
		if err != nil {
			next = Choice{}
		}
	}
	m.set(next)
	return err
}

// Target is the model that a session would talk to.
type Target struct {
	Provider config.Provider // With its variables filled in; no Type means --dry noop.
	Model    string          // Empty: nobody named one, the server would be asked.
	Client   provider.Client
}

// Target finds out whom an agent would talk to. No model server is asked.
func (m *Models) Target(who config.Model) (Target, error) {
	if m.opts.Noop {
		return Target{Provider: config.Provider{Name: "noop"}, Model: "noop", Client: script.Noop()}, nil
	}
	name, model := m.chosen(who)
	m.mu.Lock()
	defer m.mu.Unlock()
	p, usual, err := m.provider(name)
	if err != nil {
		return Target{}, err
	}
	t := Target{Provider: p, Model: model}
	if t.Client, err = m.client(p); err != nil {
		return t, err
	}
	if t.Provider, err = Expand(p, m.opts.Getenv); err != nil {
		return t, err
	}
	if t.Model == "" {
		t.Model = usual
	}
	if t.Model == "" && knowsModel(p) {
		t.Model = t.Client.Model(context.Background(), "").Name
	}
	return t, nil
}

// provider finds a provider by name, or one in the environment, with the model
// that goes with it.
func (m *Models) provider(name string) (config.Provider, string, error) {
	if name != "" {
		p, err := providerNamed(m.opts.Config, name)
		return p, defaultModelOf(name), err
	}
	if len(m.opts.Config.Providers) == 1 { // The only one somebody cared to write down.
		p := m.opts.Config.Providers[0]
		return p, defaultModelOf(p.Name), nil
	}
	if p, model, ok := FromEnv(m.opts.Getenv); ok {
		if own, err := providerNamed(m.opts.Config, p.Name); err == nil { // The user may have described it.
			p = own
		}
		return p, model, nil
	}
	for _, s := range Servers() {
		if s.Local != "" && listening(s.Local) {
			p, err := providerNamed(m.opts.Config, s.Name)
			return p, "", err
		}
	}
	if len(m.opts.Config.Providers) == 0 {
		return config.Provider{}, "", ErrNoProvider
	}
	return config.Provider{}, "", undecidedError(m.opts.Config.Providers)
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
func (m *Models) client(p config.Provider) (provider.Client, error) {
	key := strings.ToLower(p.Name)
	if c, ok := m.clients[key]; ok {
		return c, nil
	}
	p, err := Expand(p, m.opts.Getenv)
	if err != nil {
		return nil, err
	}
	c, err := newClient(p, m.opts.Logger)
	if err != nil {
		return nil, err
	}
	m.clients[key] = c
	return c, nil
}

// defaultModel chooses a model where nobody named one.
func defaultModel(ctx context.Context, p config.Provider, usual string, c provider.Client) (string, error) {
	if knowsModel(p) {
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

// List lists the models of a provider that its filters let through, with its name; an
// empty name is the provider that an agent without one would get.
func (m *Models) List(ctx context.Context, name string) (string, []provider.ModelInfo, error) {
	m.mu.Lock()
	p, _, err := m.provider(name)
	var c provider.Client
	if err == nil {
		c, err = m.client(p)
	}
	m.mu.Unlock()
	if err != nil {
		return "", nil, err
	}
	models, err := listed(ctx, p, c)
	slices.SortFunc(models, func(x, y provider.ModelInfo) int { return strings.Compare(x.Name, y.Name) })
	return p.Name, models, err
}

// listed are the models of a server that the filters of its provider let through.
func listed(ctx context.Context, p config.Provider, c provider.Client) ([]provider.ModelInfo, error) {
	models, err := c.Models(ctx)
	keep := filter.Filter{Enabled: p.Models.Include, Disabled: p.Models.Exclude}
	return slices.DeleteFunc(models, func(m provider.ModelInfo) bool { return !keep.Allows(m.Name) }), err
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
func (u undecided) Models(ctx context.Context) ([]provider.ModelInfo, error) {
	return u.client.Models(ctx)
}
func (u undecided) Model(_ context.Context, name string) provider.ModelInfo {
	return provider.ModelInfo{Name: name}
}

// unavailable is the client of a session that has no provider.
type unavailable struct{ err error }

func (u unavailable) Chat(context.Context, *provider.Request, func(provider.Delta)) (*provider.Response, error) {
	return nil, u.err
}
func (u unavailable) Models(context.Context) ([]provider.ModelInfo, error) { return nil, u.err }
func (u unavailable) Model(_ context.Context, name string) provider.ModelInfo {
	return provider.ModelInfo{Name: name}
}
