package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// Model is which model a profile talks to, and how.
type Model struct {
	Provider   string // Name in the configuration.
	Client     provider.Client
	Name       string
	Think      string // "off", "low", "medium", "high"; empty leaves it to the server.
	Context    int    // Overrides the context window; 0 takes the model's own.
	Generation provider.Generation
}

// modelFacts is what is known about the active model.
type modelFacts struct {
	info  sdk.ModelInfo
	asked bool // The server was: asking costs a round trip.
}

// maxChosenWindow bounds the context window that is asked for where nobody chose
// one: it costs the server memory.
const maxChosenWindow = 32768

// ResolveModel finds out about the active model, once: its server is asked. Turns, switches
// and handlers need it and do it by themselves.
func (a *Agent) ResolveModel(ctx context.Context) {
	if a.model.asked {
		return
	}
	m := &a.profile.Model
	info := m.apply(m.Client.Model(ctx, m.Name))
	if ctx.Err() != nil {
		return // What was said then need not be all.
	}
	// A server that lets the window be chosen cuts silently what does not fit into
	// its own small default, so it is told the one that is counted with.
	if m.Context == 0 && slices.Contains(info.Capabilities, provider.ContextOverride) {
		info.ContextLength = min(info.ContextLength, maxChosenWindow)
		m.Generation.Context = info.ContextLength
	}
	a.model = modelFacts{info: info, asked: true}
}

// apply lays what was configured by hand over what the server says of the model.
func (m *Model) apply(info sdk.ModelInfo) sdk.ModelInfo {
	info.Name = m.Name
	if info.Name == "" {
		info.Name = "unknown"
	}
	if m.Context > 0 {
		info.ContextLength = m.Context
	}
	return info
}

// complete asks the model for one text outside the conversation. What it cost is to be
// counted also if it is an error.
func (m *Model) complete(ctx context.Context, system, prompt string) (string, provider.Usage, error) {
	resp, err := m.Client.Chat(ctx, &provider.Request{
		Model:      m.Name,
		System:     system,
		Generation: m.Generation,
		Messages: []message.Message{
			{Message: sdk.Message{Role: message.User, Content: prompt, Type: sdk.TypeNormal}},
		},
	}, nil)
	if err != nil {
		return "", provider.Usage{}, err
	}
	text := strings.TrimSpace(resp.Message.Content)
	if text == "" {
		return "", resp.Usage, errors.New("the model answered nothing")
	}
	return text, resp.Usage, nil
}
