package agent

import "log/slog"

// Log writes what happened and how long it took into a log, not what was said.
func (e Event) Log(log *slog.Logger) {
	if e.Agent != "" {
		log = log.With("subagent", e.Agent)
	}
	switch e.Kind {
	case TurnStarted:
		log.Info("turn begins", "bytes", len(e.Text))
	case Answered:
		log.Info("model answered", "bytes", len(e.Text))
	case ToolFinished:
		log.Info("tool called", "tool", e.Tool, "call", e.CallID, "failed", e.Failed, "duration", e.Duration,
			"bytes", len(e.Text))
	case TurnEnded:
		input, output := 0, 0
		if e.Usage != nil {
			input, output = e.Usage.Input, e.Usage.Output
		}
		log.Info("turn ended", "failed", e.Failed, "duration", e.Duration, "input", input, "output", output)
	case Noticed, Switched, Compacted, Restarted, Retrying:
		log.Info(string(e.Kind), "source", e.Source, "text", e.Text)
	}
}
