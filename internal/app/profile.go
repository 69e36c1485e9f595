package app

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
)

// resolved is what the configuration says about one agent in one mode.
type resolved struct {
	profile agent.Profile
	guard   guard.Config
	sandbox *sandbox.Rules // nil: off.
	servers []string       // MCP servers.
}

// resolve makes the profile of an agent in a mode. An empty agent is the default
// one, an empty mode the agent's own, "none" no mode. It may be called by several
// goroutines.
func (a *App) resolve(name, mode string) (agent.Profile, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.build(name, mode)
	if err != nil {
		return agent.Profile{}, err
	}
	a.cache[[2]string{r.profile.Agent, r.profile.Mode}] = r
	return r.profile, nil
}

// resolved is what was resolved last for an agent in a mode.
func (a *App) resolved(name, mode string) (resolved, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r, ok := a.cache[[2]string{name, mode}]; ok {
		return r, nil
	}
	return a.build(name, cmp.Or(mode, "none"))
}

// guarded is what the guards hold an agent in a mode to.
func (a *App) guarded(name, mode string) (guard.Config, error) {
	r, err := a.resolved(name, mode)
	return r.guard, err
}

// sandboxed is what the sandbox holds an agent in a mode to; nil while it is off.
func (a *App) sandboxed(name, mode string) (*sandbox.Rules, error) {
	r, err := a.resolved(name, mode)
	return r.sandbox, err
}

func (a *App) build(name, modeName string) (resolved, error) {
	who, err := a.cfg.DefaultAgent()
	if name != "" {
		who, err = a.cfg.Agent(name)
	}
	if err != nil {
		return resolved{}, err
	}
	if modeName == "" {
		modeName = who.Mode
	}
	var mode *config.Mode
	if modeName != "" && !strings.EqualFold(modeName, "none") {
		m, err := a.cfg.Mode(modeName)
		if err != nil {
			return resolved{}, err
		}
		mode = &m
	}
	f, err := a.cfg.Resolve(who, mode, a.opts.Overrides)
	if err != nil {
		return resolved{}, err
	}
	model, err := a.model(who.Model)
	if err != nil {
		return resolved{}, fmt.Errorf("agent %s: %w", who.Name, err)
	}
	r := resolved{
		guard: guard.Config{
			Rules:      guard.Rules(f.Tools.Policy).Add(guard.Rules(who.Tools.Policy)),
			ReadBefore: a.commands.Reads.Apply(guard.ReadBefore(f.Tools.ReadBefore)),
		},
		profile: agent.Profile{Agent: who.Name, Fallback: who.Fallback, Model: model},
	}
	layers := []tool.Filter{tool.Filter(f.Tools.Filter), a.opts.Tools, tool.Filter(who.Tools.Filter)}
	if mode != nil {
		r.profile.Mode = mode.Name
		r.guard.Rules = r.guard.Rules.Add(guard.Rules(mode.Tools.Policy))
		layers = append(layers, tool.Filter(mode.Tools.Filter))
	}
	layers = append(layers, a.opts.Task.Tools)
	r.sandbox = a.sandboxRules(f.Sandbox)
	r.servers = a.allowedServers(f.MCP)
	r.profile.Stale = a.staleServers(r.servers)
	r.profile.Tools = a.buildTools(f, layers)
	for i, t := range r.profile.Tools {
		r.profile.Tools[i] = a.confine(t, r.sandbox)
	}
	r.profile.Tools, r.profile.Deferred = a.offer(
		r.profile.Tools,
		layers,
		append(a.deferredServers(), f.Tools.Deferred...),
	)
	if r.profile.Settings, err = a.settings(f); err != nil {
		return resolved{}, err
	}
	r.profile.Settings.ReadBefore = r.guard.ReadBefore.Write
	r.profile.Prompt, err = a.prompt(who, mode, r)
	return r, err
}

// buildTools makes the tools and returns those that the filters leave.
func (a *App) buildTools(f config.Features, layers []tool.Filter) []tool.Tool {
	bash := f.Tools.Bash
	all := tools.New(tools.Options{
		Todo: a.todo, Env: a.env.list, ReadSmallFileTokens: f.Tools.ReadSmallFileTokens,
		Parallel: func(name string) bool { return f.Tools.Parallel && a.parallel(name) },
		Bash: tools.BashLimits{
			Timeout: bash.Timeout, MaxBytes: bash.Truncation.MaxBytes, MaxLines: bash.Truncation.MaxLines,
			Head: bash.Truncation.Head, Tail: bash.Truncation.Tail,
		},
	})
	if merged, err := a.plugins.Merge(all); err == nil { // Conflicts were reported when the plugins were loaded.
		all = merged
	}
	all = a.define(a.serverTools(a.allowedServers(f.MCP), a.written.add(a.extensions.add(all))))
	for _, t := range all {
		a.tools[t.Name] = t
	}
	return tool.Available(all, layers, f.Tools.OptIn...)
}

// settings turns features into the limits of a profile.
func (a *App) settings(f config.Features) (agent.Settings, error) {
	s := agent.Settings{
		MaxSteps: f.Tools.MaxSteps, TokenBudget: f.Tools.TokenBudget, Serial: !f.Tools.Parallel,
		InputShare: f.Tools.UserInputMaxPercentage,
		Compaction: agent.Compaction{
			Disabled:     f.Compaction.Threshold == 0 && f.Compaction.MaxTokens == 0,
			Threshold:    float64(f.Compaction.Threshold),
			MaxTokens:    f.Compaction.MaxTokens,
			KeepLast:     f.Compaction.KeepLastMessages,
			ResultLength: f.Compaction.ToolResultMaxLength,
			Retries:      f.Compaction.TruncationRetries,
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
	if a.opts.Limits.TokenBudget > 0 {
		s.TokenBudget = a.opts.Limits.TokenBudget
	}
	var errs [2]error
	s.Compaction.Model, s.Compaction.Prompt, errs[0] = a.helper(f.Compaction.Agent, f.Compaction.Prompt)
	s.Title.Model, s.Title.Prompt, errs[1] = a.helper(f.Title.Agent, f.Title.Prompt)
	return s, errors.Join(errs[:]...)
}

// helper finds the model of an agent and the text of a prompt that do a small job
// beside the conversation; empty names leave it to the agent.
func (a *App) helper(agentName, promptName string) (model *agent.Model, prompt string, err error) {
	if promptName != "" {
		p, err := a.cfg.Prompt(promptName)
		if err != nil {
			return nil, "", err
		}
		prompt = p.Body
	}
	if agentName == "" {
		return nil, prompt, nil
	}
	who, err := a.cfg.Agent(agentName)
	if err != nil {
		return nil, "", err
	}
	m, err := a.model(who.Model)
	return &m, prompt, err
}

// prompt collects the parts of the system prompt.
func (a *App) prompt(who config.Agent, mode *config.Mode, r resolved) (agent.Prompt, error) {
	p := agent.Prompt{
		Agent: who.Body, ReadBefore: agent.ReadBeforeData(r.guard.ReadBefore), Policy: r.guard.Rules.String(),
	}
	p.Origins.Agent = bodyOf(who.Source)
	if mode != nil {
		p.Mode, p.Origins.Mode = mode.Body, bodyOf(mode.Source)
	}
	var err error
	if p.Files, err = a.agentFiles(who); err != nil {
		return p, err
	}
	if p.Instructions, err = a.instructions(who.AgentsMD); err != nil {
		return p, err
	}
	system := who.System
	if a.opts.Choice.System != "" {
		system = a.opts.Choice.System
	}
	if system != "" {
		named, err := a.cfg.Prompt(system)
		if err != nil {
			return p, err
		}
		p.System, p.Origins.System = named.Body, bodyOf(named.Source)
	}
	return p, nil
}

// bodyOf is where the body of a definition was written.
func bodyOf(s config.Source) agent.Origin { return agent.Origin{File: s.BodyFile, Line: s.BodyLine} }
