package pyext

import "errors"

// Loaded is an extension with what it registered.
type Loaded struct {
	Extension
	Events   []string  `json:"events"`
	Tools    []Tool    `json:"tools"`
	Commands []Command `json:"commands"`
	Prompts  []string  `json:"prompts"`
	Error    string    `json:"error,omitempty"` // Why it is out of service.
}

// Tool describes a tool in a listing.
type Tool struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	SideEffects []string `json:"side_effects"`
	Approval    bool     `json:"requires_approval"`
}

// Command describes a slash command in a listing.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// List is what there is to say about extensions that were found, those that others
// shadow included, in running order. host runs them; nil: nobody does. It starts nothing.
func List(found []Extension, host *Host) []Loaded {
	var active []Loaded
	if host != nil {
		active = host.Extensions()
	}
	out := make([]Loaded, 0, len(found))
	for _, e := range found {
		l := Loaded{Extension: e}
		if e.ShadowedBy == "" && len(active) > 0 {
			l, active = active[0], active[1:]
		}
		out = append(out, l)
	}
	return out
}

// Err is why none of the extensions runs, where that is nobody's fault alone; nil if
// they run or are about to. It does not wait.
func (h *Host) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.state:
	default:
		return nil
	}
	if errors.Is(h.err, errNone) {
		return nil
	}
	return h.err
}

func (l *Loaded) fill(reg *loaded) {
	l.Events, l.Tools, l.Commands, l.Prompts = []string{}, []Tool{}, []Command{}, []string{}
	for _, h := range reg.Handlers {
		l.Events = append(l.Events, h.Event)
	}
	for _, t := range reg.Tools {
		l.Tools = append(l.Tools, Tool{t.Name, t.Description, t.SideEffects, t.RequiresApproval})
	}
	for _, c := range reg.Commands {
		l.Commands = append(l.Commands, Command(c))
	}
	l.Prompts = append(l.Prompts, reg.Prompts...)
}
