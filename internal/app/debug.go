package app

import (
	"github.com/idelchi/aura/internal/agent"
)

// logged makes an observer that also writes the course of the session into the debug
// log: what happened and how long it took, not what was said.
func (a *App) logged(observe func(agent.Event)) func(agent.Event) {
	if !a.opts.Debug {
		return observe
	}
	return func(e agent.Event) {
		a.logEvent(e)
		if observe != nil {
			observe(e)
		}
	}
}

func (a *App) logEvent(e agent.Event) {
	log := a.log
	if e.Agent != "" {
		log = log.With("subagent", e.Agent)
	}
	switch e.Kind {
	case agent.TurnStarted:
		log.Info("turn begins", "bytes", len(e.Text))
	case agent.Answered:
		log.Info("model answered", "bytes", len(e.Text))
	case agent.ToolFinished:
		log.Info(
			"tool called",
			"tool",
			e.Tool,
			"call",
			e.CallID,
			"failed",
			e.Failed,
			"duration",
			e.Duration,
			"bytes",
			len(e.Text),
		)
	case agent.TurnEnded:
		input, output := 0, 0
		if e.Usage != nil {
			input, output = e.Usage.Input, e.Usage.Output
		}
		log.Info("turn ended", "failed", e.Failed, "duration", e.Duration, "input", input, "output", output)
	case agent.Noticed, agent.Switched, agent.Compacted, agent.Restarted, agent.Retrying:
		log.Info(string(e.Kind), "source", e.Source, "text", e.Text)
	}
}

// logOpened writes what the session begins with.
func (a *App) logOpened() {
	p := a.agent.Profile()
	a.log.Info("session opened", "workdir", a.workdir, "homes", a.cfg.Homes.All(), "agent", p.Agent, "mode", p.Mode,
		"provider", p.Model.Provider, "model", p.Model.Name, "tools", len(p.Tools))
}
