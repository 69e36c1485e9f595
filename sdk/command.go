package sdk

// CommandSchema describes a slash command.
type CommandSchema struct {
	Name        string   `json:"name"` // Without the slash.
	Description string   `json:"description"`
	Hints       []string `json:"hints,omitempty"`   // Labels of the arguments, shown while typing.
	Forward     bool     `json:"forward,omitempty"` // The output is sent to the model as a user message.
	Silent      bool     `json:"silent,omitempty"`  // The output is not displayed.
}

// CommandResult is what a slash command returns.
type CommandResult struct {
	Output string `json:"output"`
}
