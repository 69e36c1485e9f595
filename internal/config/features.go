package config

import (
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// Features are the settings that every layer may change: built-in values, global home,
// project homes, agent, mode, command line. Config.Resolve merges them.
type Features struct {
	Tools      ToolFeatures `yaml:"tools"`
	Compaction Compaction   `yaml:"compaction"`
	Title      Title        `yaml:"title"`
	Estimation Estimation   `yaml:"estimation"`
	Plugins    Plugins      `yaml:"plugins"`
	Sandbox    Sandbox      `yaml:"sandbox"`
	MCP        MCP          `yaml:"mcp"`
	Python     string       `yaml:"python"` // Interpreter for extensions; empty finds python3 in PATH.
	Extensions Extensions   `yaml:"extensions"`
	Hooks      HookImports  `yaml:"hooks"`
	Subagent   Subagent     `yaml:"subagent"`
}

// ToolFeatures are the settings of all tools together.
type ToolFeatures struct {
	MaxSteps    int `yaml:"max_steps" min:"1"`    // Model calls in one turn.
	TokenBudget int `yaml:"token_budget" min:"0"` // Tokens in and out in one session; 0 is no limit.
	Filter      `yaml:",inline"`
	OptIn       []string   `yaml:"opt_in"`   // Tools that exist only when enabled by name.
	Deferred    []string   `yaml:"deferred"` // Tools the model must load before use.
	Parallel    bool       `yaml:"parallel"`
	ReadBefore  ReadBefore `yaml:"read_before"`
	Policy      Policy     `yaml:"policy"`

	Mode   string      `yaml:"mode" enum:"tokens percentage"` // Which limit of Result counts.
	Result ResultLimit `yaml:"result"`
	Bash   Bash        `yaml:"bash"`

	// Files up to this size are read whole; 0 is off.
	ReadSmallFileTokens    int `yaml:"read_small_file_tokens" min:"0"`
	UserInputMaxPercentage int `yaml:"user_input_max_percentage" min:"0" max:"100"`
}

// Filter chooses names by pattern (`*` only). Empty Enabled means all; Disabled wins.
type Filter struct {
	Enabled  []string `yaml:"enabled"`
	Disabled []string `yaml:"disabled"`
}

// MCP says which MCP servers are used.
type MCP struct {
	Filter  `yaml:",inline"` // Server names, without regard to case.
	Project bool             `yaml:"project"` // Also those of the project's .mcp.json.
}

// Policy says which tool calls run at once, are asked about, or are refused. Deny wins
// over confirm; a matching auto lifts a confirm.
type Policy struct {
	Auto    []string `yaml:"auto"`
	Confirm []string `yaml:"confirm"`
	Deny    []string `yaml:"deny"`
}

// ReadBefore says what needs an earlier Read of the file in the session.
type ReadBefore struct {
	Write  bool `yaml:"write"`
	Delete bool `yaml:"delete"`
}

// ResultLimit is the largest tool result that reaches the model.
type ResultLimit struct {
	MaxTokens     int `yaml:"max_tokens" min:"1"`
	MaxPercentage int `yaml:"max_percentage" min:"1" max:"100"` // Of the context window, conversation included.
}

// Bash are the settings of the Bash tool.
type Bash struct {
	Timeout    time.Duration `yaml:"timeout"` // Of a call that names none.
	Truncation Truncation    `yaml:"truncation"`
}

// Truncation cuts long output in the middle.
type Truncation struct {
	MaxBytes int `yaml:"max_bytes" min:"1"`
	MaxLines int `yaml:"max_lines" min:"1"`
	Head     int `yaml:"head" min:"0"` // Lines kept at the start.
	Tail     int `yaml:"tail" min:"0"` // Lines kept at the end.
}

// Compaction says when and how a long conversation is summarised.
type Compaction struct {
	// Percent of the context window; 0 switches automatic compaction off.
	Threshold        int    `yaml:"threshold" min:"0" max:"100"`
	MaxTokens        int    `yaml:"max_tokens" min:"0"` // Absolute limit, wins over Threshold; 0 is none.
	KeepLastMessages int    `yaml:"keep_last_messages" min:"0"`
	Agent            string `yaml:"agent"`  // Who summarises; empty is the current agent.
	Prompt           string `yaml:"prompt"` // Named prompt; empty is the built-in one.

	ToolResultMaxLength int   `yaml:"tool_result_max_length" min:"0"`
	TruncationRetries   []int `yaml:"truncation_retries" min:"0"`
}

// Title says how sessions get their titles.
type Title struct {
	Disabled  bool   `yaml:"disabled"`
	Agent     string `yaml:"agent"` // Empty takes the first words of the user.
	Prompt    string `yaml:"prompt"`
	MaxLength int    `yaml:"max_length" min:"1"`
}

// Estimation says how tokens are counted before a server has counted them.
type Estimation struct {
	Method  string  `yaml:"method" enum:"rough"`
	Divisor float64 `yaml:"divisor"` // Characters in a token.
}

// Plugins are the settings of all plugins together.
type Plugins struct {
	Dir     string       `yaml:"dir"` // Of one home; see Config.PluginDirs.
	Unsafe  bool         `yaml:"unsafe"`
	Include []string     `yaml:"include"`
	Exclude []string     `yaml:"exclude"`
	Config  PluginConfig `yaml:"config"`
}

// PluginConfig are values for plugins: Global for all of them, Local by plugin name.
type PluginConfig struct {
	Global map[string]any            `yaml:"global"`
	Local  map[string]map[string]any `yaml:"local"`
}

// Sandbox limits the files that tools can reach.
type Sandbox struct {
	Enabled      bool   `yaml:"enabled"`
	Restrictions Paths  `yaml:"restrictions"` // Replace the built-in lists when not empty.
	Extra        Paths  `yaml:"extra"`        // Added to them.
	Network      string `yaml:"network" enum:"allow deny"`
}

// Paths are read-only and writable paths.
type Paths struct {
	RO []string `yaml:"ro"`
	RW []string `yaml:"rw"`
}

// Extensions are the settings of all Python extensions together.
type Extensions struct {
	Timeout     time.Duration `yaml:"timeout"`      // Of one handler, and of loading one extension.
	ToolTimeout time.Duration `yaml:"tool_timeout"` // Of one tool or command.
}

// HookImports names other programs' hook files to read as hooks.
type HookImports struct {
	Import []string `yaml:"import"`
}

// Subagent are the settings of agents that the Task tool starts.
type Subagent struct {
	Agent    string `yaml:"agent"`             // When the call names none; empty is the calling agent.
	MaxSteps int    `yaml:"max_steps" min:"0"` // 0 is tools.max_steps.
}

// DefaultFeatures are the values that apply where nobody says otherwise.
func DefaultFeatures() Features {
	return Features{
		Tools: ToolFeatures{
			MaxSteps:   50,
			Parallel:   true,
			ReadBefore: ReadBefore{Write: true},
			Mode:       "tokens",
			Result:     ResultLimit{MaxTokens: 20_000, MaxPercentage: 95},
			Bash: Bash{
				Timeout:    15 * time.Second,
				Truncation: Truncation{MaxBytes: 1 << 20, MaxLines: 200, Head: 100, Tail: 80},
			},
			UserInputMaxPercentage: 80,
		},
		Compaction: Compaction{
			Threshold: 80, KeepLastMessages: 10,
			ToolResultMaxLength: 200, TruncationRetries: []int{150, 100, 50, 0},
		},
		Title:      Title{MaxLength: 50},
		Estimation: Estimation{Method: "rough", Divisor: 4},
		Extensions: Extensions{Timeout: 10 * time.Second, ToolTimeout: 2 * time.Minute},
		Sandbox:    Sandbox{Network: "allow"},
	}
}

// Layer is a checked piece of features YAML that has not been merged yet.
type Layer struct {
	file string
	line int // Of file, on which the document of the node starts.
	node *yaml.Node
}

func (l Layer) decoder(errs *Errors) *strictyaml.Decoder {
	return &strictyaml.Decoder{File: l.file, Line: l.line, Errors: errs}
}

// apply writes the layer's keys over f. Mistakes were reported when the layer was read.
func (l Layer) apply(f *Features, errs *Errors) {
	l.decoder(errs).Decode(l.node, f, "")
}

// Layers are the features of an agent or mode, those of its parents first.
type Layers []Layer

func (l *Layers) DecodeYAML(d *strictyaml.Decoder, n *yaml.Node, path string) {
	var scratch Features
	d.Decode(n, &scratch, path)
	checkFeatures(d, n, path)
	*l = append(*l, Layer{file: d.File, line: d.Line, node: n})
}

// checkFeatures finds mistakes that no single type can show.
func checkFeatures(d *strictyaml.Decoder, n *yaml.Node, path string) {
	if v := strictyaml.Find(n, "estimation", "divisor"); v != nil {
		var divisor float64
		scratch := strictyaml.Decoder{Errors: &Errors{}} // What is no number was reported before.
		if scratch.Decode(v, &divisor, "") && v.Tag != "!!null" && divisor <= 0 {
			at := strictyaml.Join(path, "estimation.divisor")
			d.Errorf(v, at, "%s is too small (more than 0)", wording.Short(v.Value))
		}
	}
}
