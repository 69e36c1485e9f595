package workspace

import (
	"fmt"
	"path/filepath"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/environ"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/tool"
)

// Options is what the command line decides. The zero value runs on defaults.
type Options struct {
	Homes     config.HomeOptions
	Choice    Choice
	Limits    Limits
	Tools     tool.Filter       // --include-tools and --exclude-tools.
	MCP       tool.Filter       // --include-mcps and --exclude-mcps.
	Vars      map[string]string // --set.
	EnvFile   string            // --env-file; empty means secrets.env, if it exists.
	Overrides []string          // --override, as "tools.max_steps=5".
	Noop      bool              // --dry noop: every model answers "[noop]".
	NoModel   bool              // No model is asked anything: a provider that is wrong is no error.
	Debug     bool              // Write a debug log.

	Task TaskOptions // The task that is run; the zero value is none.

	ExtensionOptions
	ChildOptions

	// Watch are handlers that see every moment, for demonstrations.
	Watch []lifecycle.Binding
}

// Environment tells where a session without a task would work, and with which environment.
func (o Options) Environment() (workdir string, env []string, err error) {
	if workdir, err = filepath.Abs(o.Homes.Workdir); err != nil {
		return "", nil, fmt.Errorf("workdir: %w", err)
	}
	list, err := environ.Load(config.LoadEnvFile, o.EnvFile, workdir)
	return workdir, list.List(), err
}

// Skills finds the skills that a session would have; the list is never nil.
func (o Options) Skills() ([]skills.Skill, []skills.Problem, error) {
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil, nil, err
	}
	workdir, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil, nil, err
	}
	list, problems := skills.Find(skillPlaces(homes, workdir))
	return append([]skills.Skill{}, list...), problems, nil
}

// Skill finds one of the skills that a session would have.
func (o Options) Skill(name string) (skills.Skill, error) {
	list, _, err := o.Skills()
	if err != nil {
		return skills.Skill{}, err
	}
	return skills.Get(list, name)
}

// ExtensionOptions are about plugins, Python extensions and MCP servers.
type ExtensionOptions struct {
	Plugins      PluginFlags
	NoExtensions bool   // --without-extensions.
	Version      string // Ours, as MCP servers are told.
}

// PluginFlags are what the command line says about plugins.
type PluginFlags struct {
	Without bool // --without-plugins.
	Unsafe  bool // --unsafe-plugins.

	// Confining says that the process may confine itself before it runs a tool, which
	// must hold for processes of plugins too.
	Confining bool
}

// ChildOptions are about sandboxed children.
type ChildOptions struct {
	// Reexec starts this program as a sandboxed child: the program and its
	// arguments. Empty means that tools cannot be confined.
	Reexec   []string
	Confined bool // This is such a child.
}

// TaskOptions are what a task lays over everything else but the command line.
type TaskOptions struct {
	Workdir  string            // Where the session works; empty: in Homes.Workdir.
	Env      map[string]string // Over the environment file and that of the process.
	Tools    tool.Filter       // A further layer.
	Features config.Layers     // Over those of agent and mode.
}

// Choice is who works, and how.
type Choice struct {
	Agent    string // Empty: the default agent.
	Mode     string // Empty: the agent's own; "none": no mode.
	Provider string // Overrides the agent's provider.
	Model    string // Overrides the agent's model.
	Think    string // Overrides the agent's thinking mode.
	System   string // Overrides the agent's system prompt, by name.
	Auto     bool
	Verbose  bool // Show thinking.
}

// Limits bound a session; 0 takes what is configured.
type Limits struct {
	MaxSteps    int
	TokenBudget int
}

// BareKinds are the kinds of extensions that need no configuration that is right.
func (o Options) BareKinds() []extension.Kind {
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil
	}
	workdir, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil
	}
	return []extension.Kind{skills.Kind(skillPlaces(homes, workdir))}
}
