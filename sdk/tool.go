package sdk

// ToolSchema describes a tool to the model and to the user.
type ToolSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Usage       string         `json:"usage,omitempty"`
	Examples    string         `json:"examples,omitempty"`
	Parameters  ToolParameters `json:"parameters"`
}

// ToolParameters describes the arguments of a tool.
type ToolParameters struct {
	Type       string                  `json:"type"` // Always "object".
	Properties map[string]ToolProperty `json:"properties"`
	Required   []string                `json:"required,omitempty"`
}

// ToolProperty describes one argument.
type ToolProperty struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
}

// ToolPaths declares what a call will do to the file system. Relative paths are
// relative to the working directory.
type ToolPaths struct {
	Read   []string `json:"read,omitempty"`   // Sandbox: will be read.
	Write  []string `json:"write,omitempty"`  // Sandbox: will be written.
	Record []string `json:"record,omitempty"` // Afterwards the model has seen the content.
	Guard  []string `json:"guard,omitempty"`  // Must have been seen before the call.
	Clear  []string `json:"clear,omitempty"`  // Afterwards the content counts as not seen.
}

// ToolConfig is handed to Init once when a plugin is loaded.
type ToolConfig struct {
	HomeDir   string `json:"home_dir"`   // The user's home directory, absolute.
	ConfigDir string `json:"config_dir"` // The project's .aura directory, absolute.
}
