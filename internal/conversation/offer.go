package conversation

import (
	"slices"
	"sync"

	"github.com/idelchi/aura/internal/tool"
)

// DoneTool is the tool with which the model declares its work finished. It is offered
// only where the user switched it on.
const DoneTool = "Done"

// Offer is which of an agent's tools the model may call right now.
type Offer struct {
	mu       sync.Mutex
	loaded   []string // Deferred tools that were loaded.
	hidden   []string // Tools whose condition did not hold at the latest request.
	disabled []string // Name patterns, until the turn ends.
}

// Tools returns the tools that are offered: the eager ones and the deferred ones that
// were loaded, less what is disabled or hidden, and Done only where it is wanted.
func (o *Offer) Tools(eager, deferred []tool.Tool, done bool) []tool.Tool {
	o.mu.Lock()
	loaded, hidden, disabled := o.loaded, o.hidden, o.disabled // Replaced, never changed.
	o.mu.Unlock()
	if len(disabled) == 0 && len(loaded) == 0 && len(hidden) == 0 && done {
		return eager
	}
	out := make([]tool.Tool, 0, len(eager))
	keep := func(t *tool.Tool) bool {
		return (t.Name != DoneTool || done) && !slices.Contains(hidden, t.Name) && !matches(disabled, t.Name)
	}
	for i := range eager {
		if keep(&eager[i]) {
			out = append(out, eager[i])
		}
	}
	for i := range deferred {
		if slices.Contains(loaded, deferred[i].Name) && keep(&deferred[i]) {
			out = append(out, deferred[i])
		}
	}
	return out
}

// matches reports whether any of the patterns stands for a name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return tool.Match(p, name) })
}

// Load offers deferred tools from now on.
func (o *Offer) Load(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	loaded := slices.Clone(o.loaded) // Tools may be reading the old one.
	for _, name := range names {
		if !slices.Contains(loaded, name) {
			loaded = append(loaded, name)
		}
	}
	o.loaded = loaded
}

// Restore makes names the loaded tools.
func (o *Offer) Restore(names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loaded = slices.Clone(names)
}

// Loaded lists the deferred tools that were loaded.
func (o *Offer) Loaded() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.loaded)
}

// Hide makes names the tools whose condition does not hold.
func (o *Offer) Hide(names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hidden = names
}

// Hidden reports whether the condition of a tool does not hold.
func (o *Offer) Hidden(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.hidden, name)
}

// Disable takes away the tools that patterns stand for, until Enable.
func (o *Offer) Disable(patterns ...string) {
	if len(patterns) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.disabled = append(slices.Clip(o.disabled), patterns...)
}

// Disabled lists the patterns of what was taken away.
func (o *Offer) Disabled() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clip(o.disabled)
}

// Enable ends what Disable did.
func (o *Offer) Enable() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.disabled = nil
}
