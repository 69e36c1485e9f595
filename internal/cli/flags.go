package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
	sdkversion "github.com/idelchi/aura/sdk/version"
)

// rootFlags are the flags of every command.
type rootFlags struct {
	choice app.Choice
	limits app.Limits
	placeFlags
	filterFlags
	sessionFlags
	plugins  app.PluginFlags
	noPython bool
	set      []string
	override []string

	reexecArgs []string // Starts this program as a sandboxed child.
}

// placeFlags say where things are.
type placeFlags struct {
	home    string
	homeSet bool // --home was given, perhaps as "".
	config  []string
	workdir string
	envFile string
}

// filterFlags choose tools and servers.
type filterFlags struct {
	include []string
	exclude []string
	mcps    tool.Filter
}

// sessionFlags say which session it is and how it is shown.
type sessionFlags struct {
	resume  string
	latest  bool
	dry     string
	verbose bool
	plain   bool
	debug   bool
}

// sessionKey is the session that --resume or --continue asks for; empty for a new one.
func (f *sessionFlags) sessionKey(a *app.App) (string, error) {
	if f.latest {
		return a.Latest()
	}
	return f.resume, nil
}

// register declares the flags.
func (f *rootFlags) register(root *cobra.Command) {
	p := root.PersistentFlags()
	p.SortFlags = false
	p.StringVar(&f.choice.Agent, "agent", "", "agent to work with")
	p.StringVar(&f.choice.Mode, "mode", "", `mode to work in ("none" for no mode)`)
	p.StringVarP(&f.choice.Model, "model", "m", "", "model, instead of the agent's")
	p.StringVar(&f.choice.Provider, "provider", "", "provider, instead of the agent's")
	p.StringVar(&f.choice.Think, "think", "", "thinking: off, on, low, medium or high")
	p.StringVar(&f.choice.System, "system", "", "system prompt, by name, instead of the agent's")
	p.BoolVar(&f.choice.Auto, "auto", false, "go on while todos are open, and do not ask for approval")
	p.IntVar(&f.limits.MaxSteps, "max-steps", 0, "most model calls per turn")
	p.IntVar(&f.limits.TokenBudget, "token-budget", 0, "most tokens per session")
	p.StringVar(&f.resume, "resume", "", "continue the session with this ID, beginning of an ID, or name")
	p.BoolVarP(&f.latest, "continue", "c", false, "continue the latest session of this directory")
	p.StringArrayVar(&f.set, "set", nil, "KEY=value for prompt templates (repeatable)")
	p.StringSliceVar(&f.include, "include-tools", nil, "only these tools (patterns, comma-separated or repeated)")
	p.StringSliceVar(&f.exclude, "exclude-tools", nil, "not these tools (patterns, comma-separated or repeated)")
	p.StringSliceVar(
		&f.mcps.Enabled,
		"include-mcps",
		nil,
		"only these MCP servers (patterns, comma-separated or repeated)",
	)
	p.StringSliceVar(
		&f.mcps.Disabled,
		"exclude-mcps",
		nil,
		"not these MCP servers (patterns, comma-separated or repeated)",
	)
	p.StringArrayVarP(
		&f.override,
		"override",
		"O",
		nil,
		"feature KEY=value, for example tools.max_steps=5 (repeatable)",
	)
	p.StringVarP(&f.workdir, "workdir", "w", "", "directory to work in")
	p.StringVarP(&f.envFile, "env-file", "e", "", "file with KEY=value lines (default secrets.env, if it exists)")
	p.StringVar(&f.home, "home", "", `global configuration (default ~/.aura; "" for none)`)
	p.StringArrayVar(&f.config, "config", nil, "project configuration (default .aura; repeatable, later ones win)")
	p.StringVar(&f.dry, "dry", "", `"render" prints the prompt, "noop" answers [noop]; neither calls a model`)
	p.BoolVar(&f.verbose, "verbose", false, "show thinking and what is injected")
	p.BoolVar(&f.plain, "plain", false, "hold the conversation line by line, not on the whole screen")
	p.BoolVar(&f.plugins.Without, "without-plugins", false, "load no plugins")
	p.BoolVar(&f.noPython, "without-extensions", false, "load no Python extensions")
	p.BoolVar(&f.plugins.Unsafe, "unsafe-plugins", false, "let plugins run programs (os/exec) and end aura")
	p.BoolVar(&f.debug, "debug", false, "write a debug log into the configuration directory")
	for flag, values := range map[string][]string{
		"think": {"off", "on", "low", "medium", "high"}, "dry": {"render", "noop"},
	} {
		_ = root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// fromEnvironment takes flags that were not given from AURA_* variables, and checks all
// of them.
func (f *rootFlags) fromEnvironment(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		name := "AURA_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || flag.Changed || flag.Name == "help" || flag.Name == "version" {
			return
		}
		if value == "" && flag.Name != "home" {
			return
		}
		if err := cmd.Flags().Set(flag.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %q is not %s", name, value, flagKinds[flag.Value.Type()]))
		}
	})
	f.homeSet = cmd.Flags().Changed("home")
	f.reexecArgs = f.reexec(cmd)
	if f.dry != "" && f.dry != "render" && f.dry != "noop" {
		errs = append(errs, fmt.Errorf("--dry: %q is not one of render, noop", f.dry))
	}
	if !slices.Contains([]string{"", "off", "on", "low", "medium", "high"}, f.choice.Think) {
		errs = append(errs, fmt.Errorf("--think: %q is not one of off, on, low, medium, high", f.choice.Think))
	}
	if f.resume != "" && f.latest {
		errs = append(errs, errors.New("--resume and --continue exclude each other"))
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"max-steps", f.limits.MaxSteps}, {"token-budget", f.limits.TokenBudget}} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("--%s: %d is negative", n.flag, n.value))
		}
	}
	if _, err := f.vars(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return &usageError{errors.Join(errs...)}
	}
	return nil
}

// vars parses --set.
func (f *rootFlags) vars() (map[string]string, error) {
	vars := map[string]string{}
	for _, kv := range f.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--set: %q is not KEY=value", kv)
		}
		vars[key] = value
	}
	return vars, nil
}

// options are the options of the session that the flags describe.
func (f *rootFlags) options() app.Options {
	vars, _ := f.vars()
	o := app.Options{
		Homes:            config.HomeOptions{Config: f.config, Workdir: f.workdir},
		Choice:           f.choice,
		Limits:           f.limits,
		Tools:            tool.Filter{Enabled: f.include, Disabled: f.exclude},
		MCP:              f.mcps,
		Vars:             vars,
		EnvFile:          f.envFile,
		Overrides:        f.override,
		Noop:             f.dry == "noop",
		Debug:            f.debug,
		ChildOptions:     app.ChildOptions{Reexec: f.reexecArgs},
		ExtensionOptions: app.ExtensionOptions{Plugins: f.plugins, NoExtensions: f.noPython, Version: sdkversion.Version},
	}
	o.Choice.Verbose = f.verbose
	if f.homeSet {
		o.Homes.Home = &f.home
	}
	return o
}

// lookup are the options of a session that is opened for its parts only: no model is
// called.
func (f *rootFlags) lookup() app.Options {
	o := f.options()
	o.NoModel = true
	return o
}

// flagKinds describe, by their types, the values of flags that can be malformed.
var flagKinds = map[string]string{
	"int":         "a whole number",
	"bool":        "true or false",
	"duration":    "a duration such as 90s or 10m",
	"stringSlice": "a comma-separated list",
}

// withFlagHint says what the value of a flag should be, and what the user may
// have meant by an unknown flag.
func withFlagHint(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if kind := flagKinds[bad.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), kind)
		}
	}
	_, name, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if best := wording.Closest(name, known); best != "" {
		return fmt.Errorf("%w (did you mean --%s?)", err, best)
	}
	return err
}
