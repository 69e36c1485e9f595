package pyext

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
