package agent

import (
	"context"

	"github.com/idelchi/aura/internal/conversation"
)

// SystemPrompt renders the system prompt if needed and returns it. It asks the model's
// server about the model, which the prompt may name.
func (a *Agent) SystemPrompt(ctx context.Context) (string, error) {
	err := a.render(ctx)
	return a.prompt(), err
}

// prompt is the rendered system prompt with what extensions add to it right now.
func (a *Agent) prompt() string {
	if a.opts.Place.Additions == nil {
		return a.conv.System()
	}
	return conversation.Join(append([]string{a.conv.System()}, a.opts.Place.Additions()...)...)
}

// render makes the system prompt, unless nothing changed since the last time.
func (a *Agent) render(ctx context.Context) error {
	a.ResolveModel(ctx)
	done := a.switches.Done()
	if a.conv.System() != "" && a.promptDone == done {
		return nil
	}
	text, err := a.profile.Prompt.Render(promptData(a))
	if err != nil {
		return err
	}
	a.promptDone = done
	a.conv.SetSystem(text)
	return nil
}

// promptData is what the templates of the prompt can use.
func promptData(a *Agent) conversation.PromptData {
	p, place := &a.profile, &a.opts.Place
	d := conversation.PromptData{
		Agent: p.Agent, Provider: p.Model.Provider, Model: a.model.info, Vars: place.Vars,
		WorkDir: place.Workdir, LaunchDir: place.LaunchDir, ReadBefore: p.Prompt.ReadBefore,
		Hooks: a.Hooks(), Sandbox: place.sandbox(),
	}
	d.Mode.Name = p.Mode
	d.ToolPolicy.Display = p.Prompt.Policy
	d.SetTools(a.conv.Offer.All(), a.switches.Done())
	return d
}

// Hooks tells about the shell hooks of the active agent and mode.
func (a *Agent) Hooks() HookData {
	if a.opts.Place.Hooks == nil {
		return HookData{}
	}
	return a.opts.Place.Hooks(a.profile.Agent, a.profile.Mode)
}

// sandbox tells whether tools are confined.
func (p *Place) sandbox() SandboxState {
	if p.Sandbox == nil {
		return SandboxState{}
	}
	return p.Sandbox()
}
