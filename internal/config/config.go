// Package config is everything a user can set in files: homes, agents, modes, prompts,
// providers, features and the environment file, decoded strictly into plain values.
// It acts on none of it: only the composition root reads a Config and hands parts on.
package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// Config is the merged configuration of all homes. It is not changed after Load.
type Config struct {
	Homes Homes

	// Definitions by name, those of later homes in place of earlier ones, sorted. A kind
	// that no home defines holds the built-in ones.
	Agents    []Agent
	Modes     []Mode
	Prompts   []Prompt
	Providers []Provider // From files only; package models knows the usual ones.
	Commands  []Command

	Definitions map[string]ToolDefinition // By the name of the tool.

	Hooks     Hooks
	Approvals []string          // Tool patterns that people allowed for good.
	Files     map[string][]File // Files of the kinds that other packages decode, by kind, global home first.

	layers     []Layer
	task       Layers            // See WithTask.
	pluginDirs map[string]string // By home, where declared.
	builtin    builtins          // What names fall back to.
}

// Error is one mistake in one configuration file, and Errors is every mistake found.
type (
	Error  = strictyaml.Error
	Errors = strictyaml.Errors
)

// File is a configuration file that was found but not read.
type File struct {
	Home string
	Path string
}

type builtins struct {
	agents  []Agent
	modes   []Mode
	prompts []Prompt
}

// Agent finds an agent by name without regard to case. Built-in agents can be named
// even when homes define others.
func (c *Config) Agent(name string) (Agent, error) {
	return lookup("agent", name, func(a Agent) string { return a.Name }, c.Agents, c.builtin.agents)
}

// Mode finds a mode like Agent does.
func (c *Config) Mode(name string) (Mode, error) {
	return lookup("mode", name, func(m Mode) string { return m.Name }, c.Modes, c.builtin.modes)
}

// Prompt finds a prompt like Agent does.
func (c *Config) Prompt(name string) (Prompt, error) {
	return lookup("prompt", name, func(p Prompt) string { return p.Name }, c.Prompts, c.builtin.prompts)
}

// Provider finds a provider like Agent does. One of KnownProviders that no file describes
// is empty but for its name: package models knows the rest.
func (c *Config) Provider(name string) (Provider, error) {
	var usual []Provider
	for _, known := range KnownProviders() {
		usual = append(usual, Provider{Name: known})
	}
	return lookup("provider", name, func(p Provider) string { return p.Name }, c.Providers, usual)
}

func lookup[T any](what, name string, nameOf func(T) string, lists ...[]T) (T, error) {
	var names []string
	for _, list := range lists {
		for _, item := range list {
			if strings.EqualFold(nameOf(item), name) {
				return item, nil
			}
			if !containsFold(names, nameOf(item)) {
				names = append(names, nameOf(item))
			}
		}
	}
	var zero T
	return zero, fmt.Errorf("no %s %q%s", what, wording.Short(name), wording.Hint(name, what+"s", names))
}

func containsFold(list []string, name string) bool {
	for _, item := range list {
		if strings.EqualFold(item, name) {
			return true
		}
	}
	return false
}

// DefaultAgent is the agent that starts when none is asked for: the one with `default:
// true`, that of the last home if several homes have one, else the first by name that is not hidden.
func (c *Config) DefaultAgent() (Agent, error) {
	homes := c.Homes.All()
	for i := len(homes); i >= 0; i-- {
		home := "" // Built in.
		if i > 0 {
			home = homes[i-1]
		}
		for _, a := range c.Agents {
			if a.Default && a.Source.Home == home {
				return a, nil
			}
		}
	}
	for _, a := range c.Agents {
		if !a.Hide {
			return a, nil
		}
	}
	return Agent{}, errors.New("no default agent: every agent is hidden (write `default: true` in one)")
}

// PluginDirs lists the plugin directory of every home, global first: `plugins` in the
// home, or what the features of that same home say in `plugins.dir`.
func (c *Config) PluginDirs() []string {
	var dirs []string
	for _, home := range c.Homes.All() {
		dir := c.pluginDirs[home]
		if dir == "" {
			dir = "plugins"
		}
		dirs = append(dirs, absolute(home, dir))
	}
	return dirs
}

// WithTask is the configuration with the features of a task over those of agents and
// modes.
func (c *Config) WithTask(features Layers) *Config {
	if len(features) == 0 {
		return c
	}
	with := *c
	with.task = features
	return &with
}

// Resolve merges the features that hold for an agent in a mode (nil for none): built-in
// values, then the homes in order, the agent, the mode, the task, and overrides such as
// "tools.max_steps=5", whose values are YAML. Only overrides can be wrong here.
func (c *Config) Resolve(a Agent, m *Mode, overrides []string) (Features, error) {
	f := DefaultFeatures()
	var errs Errors
	for _, layer := range c.layers {
		layer.apply(&f, &errs)
	}
	for _, layer := range a.Features {
		layer.apply(&f, &errs)
	}
	if m != nil {
		for _, layer := range m.Features {
			layer.apply(&f, &errs)
		}
	}
	for _, layer := range c.task {
		layer.apply(&f, &errs)
	}
	for _, text := range overrides {
		if n := parseOverride(text, &errs); n != nil {
			d := &strictyaml.Decoder{File: "--override", Errors: &errs}
			d.Decode(n, &f, "")
			checkFeatures(d, n, "")
			c.checkFeatureNames(d, n, "", nil)
		}
	}
	if err := errs.Err(); err != nil {
		return Features{}, err
	}
	return f, nil
}

// parseOverride makes "a.b=value" the mapping {a: {b: value}}.
func parseOverride(text string, errs *Errors) *yaml.Node {
	const file = "--override"
	path, value, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	keys := strings.Split(path, ".")
	if !ok || len(keys) > strictyaml.MaxDepth/2 || containsFold(keys, "") {
		errs.Add(file, 0, "", "%q is not key.path=value (such as tools.max_steps=5)", wording.Short(text))
		return nil
	}
	before := len(*errs)
	d := &strictyaml.Decoder{File: file, Errors: errs}
	n := d.Parse([]byte(value))
	if len(*errs) > before {
		for _, e := range (*errs)[before:] {
			e.Line, e.Path = 0, path
		}
		return nil
	}
	if n == nil {
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"} // "key=" empties a text.
	}
	for i := len(keys) - 1; i >= 0; i-- {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: keys[i]}
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, n}}
	}
	clearLines(n, 0)
	return n
}

// clearLines drops line numbers that would mean nothing on a command line.
func clearLines(n *yaml.Node, depth int) {
	if depth > strictyaml.MaxDepth {
		return
	}
	n.Line = 0
	for _, child := range n.Content {
		clearLines(child, depth+1)
	}
}
