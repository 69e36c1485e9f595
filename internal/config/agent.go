package config

import (
	"strings"

	"github.com/idelchi/aura/internal/generation"
	"github.com/idelchi/aura/internal/strictyaml"
	"go.yaml.in/yaml/v4"
)

// Source says where a definition was written.
type Source struct {
	File     string // Path; "builtin:..." for what is built in.
	Home     string // Home it belongs to; empty for what is built in.
	Line     int    // Of the definition in a file of several.
	BodyFile string // File the Markdown body comes from: File, or that of a parent.
	BodyLine int    // Of the first line of the body in BodyFile.
}

// Builtin reports whether the definition ships with the program.
func (s Source) Builtin() bool { return s.Home == "" }

// Identity is what agents and modes have in common.
type Identity struct {
	Name        string   `yaml:"name"` // Required. Compared without regard to case.
	Description string   `yaml:"description"`
	Inherit     []string `yaml:"inherit"` // Parents, applied left to right before this one.
	Hide        bool     `yaml:"hide"`    // Left out of lists and cycling; can still be named.
}

// Agent is a model with a prompt and the tools it may use.
type Agent struct {
	Source   Source `yaml:"-"`
	Identity `yaml:",inline"`

	Model    Model     `yaml:"model"`
	Mode     string    `yaml:"mode"`   // Mode at the start; empty is none.
	System   string    `yaml:"system"` // Named prompt; empty composes the parts in order.
	Tools    ToolRules `yaml:"tools"`
	Hooks    Filter    `yaml:"hooks"`
	Fallback []string  `yaml:"fallback"` // Agents to try in turn when the provider fails for good.

	Subagent bool `yaml:"subagent"` // Offered to the Task tool.
	// Which AGENTS.md files join the prompt; empty is all.
	AgentsMD string   `yaml:"agentsmd" enum:"all global local none"`
	Files    []string `yaml:"files"` // Files that join the prompt.
	Default  bool     `yaml:"default"`
	Features Layers   `yaml:"features"`
	Body     string   `yaml:"-"` // Template.
}

// Model says which model an agent uses and how. Empty fields are chosen from the environment.
type Model struct {
	Provider   string              `yaml:"provider"`
	Name       string              `yaml:"name"`
	Think      Think               `yaml:"think"`
	Context    int                 `yaml:"context" min:"0"` // Context window in tokens; 0 asks the provider.
	Generation generation.Settings `yaml:"generation"`
}

// ToolRules narrow the tools of an agent or mode.
type ToolRules struct {
	Filter `yaml:",inline"`
	Policy Policy `yaml:"policy"`
}

// Mode is a way of working that narrows what an agent may do.
type Mode struct {
	Source   Source `yaml:"-"`
	Identity `yaml:",inline"`

	Tools    ToolRules `yaml:"tools"`
	Hooks    Filter    `yaml:"hooks"`
	Features Layers    `yaml:"features"`
	Body     string    `yaml:"-"` // Template.
}

// Prompt is a named text, used as a system prompt or for compaction and titles.
type Prompt struct {
	Source      Source `yaml:"-"`
	Name        string `yaml:"name"` // Empty is the file name without its extension.
	Description string `yaml:"description"`
	Body        string `yaml:"-"` // Template.
}

// Think is how hard a model thinks: "off", "low", "medium" or "high"; empty leaves it to
// the server. `on` and `true` are written for medium, `false` for off.
type Think string

func (t *Think) DecodeYAML(d *strictyaml.Decoder, n *yaml.Node, path string) {
	words := []string{"off", "on", "low", "medium", "high"}
	if n.Kind == yaml.ScalarNode {
		switch value := strings.ToLower(n.Value); value {
		case "", "off", "low", "medium", "high":
			*t = Think(value)
			return
		case "on", "true", "yes":
			*t = "medium"
			return
		case "false", "no":
			*t = "off"
			return
		}
		d.OneOf(n, path, words)
		return
	}
	d.Wrong(n, path, "one of "+strings.Join(words, ", "))
}
