// Package generation is how a model is told to make its answers. The servers decide what
// of it they know.
package generation

// Settings holds sampling settings; nil and zero leave them to the server.
type Settings struct {
	Temperature      *float64 `yaml:"temperature"`
	TopP             *float64 `yaml:"top_p"`
	TopK             *int     `yaml:"top_k"`
	FrequencyPenalty *float64 `yaml:"frequency_penalty"`
	PresencePenalty  *float64 `yaml:"presence_penalty"`
	MaxOutputTokens  int      `yaml:"max_output_tokens"`
	Stop             []string `yaml:"stop"`
	Seed             *int     `yaml:"seed"`
	ThinkBudget      int      `yaml:"think_budget"` // Tokens; wins over the level of Think where supported.
	Context          int      `yaml:"-"`            // Context window to ask for, where the server lets one.
}
