// Package profile makes the profiles of agents: what the configuration says about an
// agent in a mode, its tools, its limits and its prompt. It starts nothing.
package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/instructions"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
)

// Options are what profiles are made of.
type Options struct {
	Config  *config.Config
	Workdir string
	Sandbox *sandbox.Confinement
	Reads   *guard.ReadSwitches
	Command

	// Model decides which model an agent talks to.
	Model func(config.Model) (agent.Model, error)
	// Tools makes all tools there are; find is asked for one of them while tools run.
	Tools func(f config.Features, find func(name string) (tool.Tool, bool)) []tool.Tool
	// LoadTools makes the tool that loads the deferred ones.
	LoadTools func(deferred []tool.Tool) tool.Tool
	// Servers are the MCP servers; nil means none.
	Servers func() Servers
	// Stale makes the question whether the named MCP servers have changed since a profile
	// was made; nil means that they never do.
	Stale func(servers []string) func(context.Context) bool
}

// Servers are the MCP servers of a session.
type Servers interface {
	Allowed(filters ...tool.Filter) []string // The names of those that all filters leave.
	Deferred() []string                      // Patterns for tools that a model must load first.
	Count() int
}

// Command is what the command line and the running task say about every profile.
type Command struct {
	Overrides    []string    // --override, as "tools.max_steps=5".
	ToolFilter   tool.Filter // --include-tools and --exclude-tools.
	ServerFilter tool.Filter // --include-mcps and --exclude-mcps.
	TaskTools    tool.Filter
	System       string // Overrides the agent's system prompt, by name.
	TokenBudget  int    // 0 takes what is configured.
}

// Profiles makes profiles and remembers them. Its methods may be called by several
// goroutines: sub-agents resolve side by side.
type Profiles struct {
	opts Options

	mu    sync.Mutex
	tools map[string]tool.Tool
	cache map[[2]string]resolved
}

// New returns the profiles of a configuration.
func New(o Options) *Profiles {
	return &Profiles{opts: o, tools: map[string]tool.Tool{}, cache: map[[2]string]resolved{}}
}

// resolved is what the configuration says about one agent in one mode.
type resolved struct {
	profile agent.Profile
	guard   guard.Config
	sandbox *sandbox.Rules // nil: off.
	servers []string       // MCP servers.
}

// Resolve makes the profile of an agent in a mode. An empty agent is the default one, an
// empty mode the agent's own, "none" no mode.
func (p *Profiles) Resolve(name, mode string) (agent.Profile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.build(name, mode)
	if err != nil {
		return agent.Profile{}, err
	}
	p.cache[[2]string{r.profile.Agent, r.profile.Mode}] = r
	return r.profile, nil
}

// resolved is what was resolved last for an agent in a mode.
func (p *Profiles) resolved(name, mode string) (resolved, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.cache[[2]string{name, mode}]; ok {
		return r, nil
	}
	return p.build(name, cmp.Or(mode, "none"))
}

// Guard is what the guards hold an agent in a mode to.
func (p *Profiles) Guard(name, mode string) (guard.Config, error) {
	r, err := p.resolved(name, mode)
	return r.guard, err
}

// Sandbox is what the sandbox holds an agent in a mode to; nil while it is off.
func (p *Profiles) Sandbox(name, mode string) (*sandbox.Rules, error) {
	r, err := p.resolved(name, mode)
	return r.sandbox, err
}

// Servers names the MCP servers that an agent in a mode may use.
func (p *Profiles) Servers(name, mode string) []string {
	r, _ := p.resolved(name, mode) // One that cannot be resolved has none.
	return r.servers
}

func (p *Profiles) build(name, modeName string) (resolved, error) {
	cfg := p.opts.Config
	who, err := cfg.DefaultAgent()
	if name != "" {
		who, err = cfg.Agent(name)
	}
	if err != nil {
		return resolved{}, err
	}
	if modeName == "" {
		modeName = who.Mode
	}
	var mode *config.Mode
	if modeName != "" && !strings.EqualFold(modeName, "none") {
		m, err := cfg.Mode(modeName)
		if err != nil {
			return resolved{}, err
		}
		mode = &m
	}
	f, err := cfg.Resolve(who, mode, p.opts.Overrides)
	if err != nil {
		return resolved{}, err
	}
	model, err := p.opts.Model(who.Model)
	if err != nil {
		return resolved{}, fmt.Errorf("agent %s: %w", who.Name, err)
	}
	r := resolved{
		guard: guard.Config{
			Rules:      guard.Rules(f.Tools.Policy).Add(guard.Rules(who.Tools.Policy)),
			ReadBefore: p.opts.Reads.Apply(guard.ReadBefore(f.Tools.ReadBefore)),
		},
		profile: agent.Profile{Agent: who.Name, Fallback: who.Fallback, Model: model},
	}
	layers := []tool.Filter{tool.Filter(f.Tools.Filter), p.opts.ToolFilter, tool.Filter(who.Tools.Filter)}
	if mode != nil {
		r.profile.Mode = mode.Name
		r.guard.Rules = r.guard.Rules.Add(guard.Rules(mode.Tools.Policy))
		layers = append(layers, tool.Filter(mode.Tools.Filter))
	}
	layers = append(layers, p.opts.TaskTools)
	r.sandbox = p.opts.Sandbox.Rules(SandboxSettings(f.Sandbox))
	if err := p.equip(&r, f, layers); err != nil {
		return resolved{}, err
	}
	r.profile.Prompt, err = p.prompt(who, mode, r)
	return r, err
}

// equip gives a profile its servers, tools and limits.
func (p *Profiles) equip(r *resolved, f config.Features, layers []tool.Filter) (err error) {
	deferred := f.Tools.Deferred
	if p.opts.Servers != nil {
		s := p.opts.Servers()
		r.servers = s.Allowed(tool.Filter{Enabled: f.MCP.Enabled, Disabled: f.MCP.Disabled}, p.opts.ServerFilter)
		deferred = append(s.Deferred(), deferred...)
	}
	if p.opts.Stale != nil && len(r.servers) > 0 {
		r.profile.Stale = p.opts.Stale(r.servers)
	}
	list := tool.Available(p.allTools(f, r.servers), layers, f.Tools.OptIn...)
	for i, t := range list {
		list[i] = p.opts.Sandbox.Confine(t, r.sandbox)
	}
	r.profile.Tools, r.profile.Deferred = p.offer(list, layers, deferred)
	if r.profile.Settings, err = p.settings(f); err != nil {
		return err
	}
	r.profile.Settings.ReadBefore = r.guard.ReadBefore.Write
	return nil
}

// SandboxSettings are the settings of the sandbox in the words of its package.
func SandboxSettings(f config.Sandbox) sandbox.Settings {
	return sandbox.Settings{
		Enabled: f.Enabled, RO: f.Restrictions.RO, RW: f.Restrictions.RW,
		ExtraRO: f.Extra.RO, ExtraRW: f.Extra.RW, DenyNetwork: f.Network == "deny",
	}
}

// settings turns features into the limits of a profile.
func (p *Profiles) settings(f config.Features) (agent.Settings, error) {
	c := f.Compaction
	s := agent.Settings{
		MaxSteps: f.Tools.MaxSteps, TokenBudget: cmp.Or(p.opts.TokenBudget, f.Tools.TokenBudget),
		Serial: !f.Tools.Parallel, InputShare: f.Tools.UserInputMaxPercentage,
		Compaction: agent.Compaction{
			Disabled: c.Threshold == 0 && c.MaxTokens == 0, Threshold: float64(c.Threshold), MaxTokens: c.MaxTokens,
			KeepLast: c.KeepLastMessages, ResultLength: c.ToolResultMaxLength, Retries: c.TruncationRetries,
		},
		Subagent: agent.Subagent(f.Subagent), Divisor: f.Estimation.Divisor,
	}
	s.Result.Tokens = f.Tools.Result.MaxTokens
	if f.Tools.Mode == "percentage" {
		s.Result.Percent = float64(f.Tools.Result.MaxPercentage)
	}
	if !f.Title.Disabled {
		s.Title.Length = f.Title.MaxLength
	}
	var errs [2]error
	s.Compaction.Model, s.Compaction.Prompt, errs[0] = p.helper(c.Agent, c.Prompt)
	s.Title.Model, s.Title.Prompt, errs[1] = p.helper(f.Title.Agent, f.Title.Prompt)
	return s, errors.Join(errs[:]...)
}

// helper finds the model of an agent and the text of a prompt that do a small job
// beside the conversation; empty names leave it to the agent.
func (p *Profiles) helper(agentName, promptName string) (model *agent.Model, prompt string, err error) {
	if promptName != "" {
		named, err := p.opts.Config.Prompt(promptName)
		if err != nil {
			return nil, "", err
		}
		prompt = named.Body
	}
	if agentName == "" {
		return nil, prompt, nil
	}
	who, err := p.opts.Config.Agent(agentName)
	if err != nil {
		return nil, "", err
	}
	m, err := p.opts.Model(who.Model)
	return &m, prompt, err
}

// prompt collects the parts of the system prompt.
func (p *Profiles) prompt(who config.Agent, mode *config.Mode, r resolved) (agent.Prompt, error) {
	out := agent.Prompt{
		Agent: who.Body, ReadBefore: agent.ReadBeforeData(r.guard.ReadBefore), Policy: r.guard.Rules.String(),
	}
	out.Origins.Agent = bodyOf(who.Source)
	if mode != nil {
		out.Mode, out.Origins.Mode = mode.Body, bodyOf(mode.Source)
	}
	var err error
	if out.Files, err = instructions.Files(who.Files, p.opts.Workdir); err != nil {
		return out, fmt.Errorf("%s: files: %w", who.Source.File, err)
	}
	homes := p.opts.Config.Homes.All()
	dirs, _ := config.Within(p.opts.Workdir)
	if out.Instructions, err = instructions.For(homes, dirs, p.opts.Workdir, who.AgentsMD); err != nil {
		return out, err
	}
	if system := cmp.Or(p.opts.System, who.System); system != "" {
		named, err := p.opts.Config.Prompt(system)
		if err != nil {
			return out, err
		}
		out.System, out.Origins.System = named.Body, bodyOf(named.Source)
	}
	return out, nil
}

// bodyOf is where the body of a definition was written.
func bodyOf(s config.Source) agent.Origin { return agent.Origin{File: s.BodyFile, Line: s.BodyLine} }

// Tool finds a tool by name, whether or not a filter hides it.
func (p *Profiles) Tool(name string) (tool.Tool, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.tools[name]
	return t, ok
}

// Tools lists every tool there is, by name.
func (p *Profiles) Tools() []tool.Tool {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]tool.Tool, 0, len(p.tools))
	for _, t := range p.tools {
		list = append(list, t)
	}
	slices.SortFunc(list, func(x, y tool.Tool) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// allTools makes all tools, makes them known, and leaves out those of MCP servers that
// the profile may not use.
func (p *Profiles) allTools(f config.Features, servers []string) []tool.Tool {
	all := p.define(p.opts.Tools(f, p.Tool))
	for name, t := range p.tools {
		if t.Source.Kind == "mcp" { // Servers come and go.
			delete(p.tools, name)
		}
	}
	for _, t := range all {
		p.tools[t.Name] = t
	}
	return slices.DeleteFunc(all, func(t tool.Tool) bool {
		return t.Source.Kind == "mcp" && !slices.Contains(servers, t.Source.Name)
	})
}
