package conversation

import (
	"slices"
	"sync"
)

// DoneTool is the tool with which the model declares its work finished. It is offered
// only where the user switched it on.
const DoneTool = "Done"

// Tool is what a conversation knows about a tool of the active agent.
type Tool struct {
	Name     string
	Summary  string // In one line.
	Bytes    int    // Of all that a model reads about it.
	Deferred bool   // Offered only once loaded.
}

// Offer is which of the active agent's tools the model may call right now.
type Offer struct {
	match func(pattern, name string) bool

	mu       sync.Mutex
	tools    []Tool
	loaded   []string // Deferred tools that were loaded.
	hidden   []string // Tools whose condition did not hold at the latest request.
	disabled []string // Name patterns, until the turn ends.
}

// SetTools makes list, which must not be changed, the tools of the active agent.
func (o *Offer) SetTools(list []Tool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tools = list
}

// All lists the tools of the active agent.
func (o *Offer) All() []Tool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tools
}

// Offered lists the tools that are offered: those that need not be loaded or are, less
// what is disabled or hidden, and Done only where it is wanted.
func (o *Offer) Offered(done bool) []Tool {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]Tool, 0, len(o.tools))
	for i := range o.tools {
		t := &o.tools[i]
		if t.Deferred && !slices.Contains(o.loaded, t.Name) || t.Name == DoneTool && !done ||
			slices.Contains(o.hidden, t.Name) || o.disables(t.Name) {
			continue
		}
		out = append(out, *t)
	}
	return out
}

// disables reports whether any of the patterns stands for a name.
func (o *Offer) disables(name string) bool {
	return slices.ContainsFunc(o.disabled, func(p string) bool { return o.match(p, name) })
}

// Load offers deferred tools from now on.
func (o *Offer) Load(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(o.loaded, name) {
			o.loaded = append(o.loaded, name)
		}
	}
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
	o.mu.Lock()
	defer o.mu.Unlock()
	o.disabled = append(o.disabled, patterns...)
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
