package config

import (
	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/strictyaml"
	"go.yaml.in/yaml/v4"
)

// ToolDefinition changes what the model is told about a tool and when it is offered,
// wherever the tool comes from. What is nil stays as the tool says.
type ToolDefinition struct {
	Source Source `yaml:"-"`
	Name   string `yaml:"-"` // Key in the file; case matters.

	Description *string   `yaml:"description"`
	Usage       *string   `yaml:"usage"`
	Examples    Examples  `yaml:"examples"`
	Parallel    *bool     `yaml:"parallel"` // May run beside other calls of a response.
	Disabled    bool      `yaml:"disabled"`
	Condition   Condition `yaml:"condition"` // When the tool is offered.
}

// Examples is written as one text or as a list of texts, one line each.
type Examples struct{ Text *string }

func (e *Examples) DecodeYAML(d *strictyaml.Decoder, n *yaml.Node, path string) {
	var lines Lines
	lines.DecodeYAML(d, n, path)
	text := ""
	for i, line := range lines {
		if i > 0 {
			text += "\n"
		}
		text += line
	}
	e.Text = &text
}

// Condition is an expression of package condition; the zero value always holds.
type Condition struct{ *condition.Expr }

func (c *Condition) DecodeYAML(d *strictyaml.Decoder, n *yaml.Node, path string) {
	var source string
	if !d.Decode(n, &source, path) {
		return
	}
	expr, err := condition.Parse(source)
	if err != nil {
		d.Errorf(n, path, "%v", err)
		return
	}
	c.Expr = expr
}

func (l *loader) toolDefinitions(f File) {
	d, n := l.yaml(f)
	if n == nil {
		return
	}
	d.Pairs(n, "", func(key, value *yaml.Node, path string) {
		def := ToolDefinition{Name: key.Value, Source: Source{File: f.Path, Home: f.Home, Line: key.Line}}
		d.Decode(value, &def, path)
		l.addDefinition(def)
	})
}

// addDefinition takes a definition in. Names of tools differ by case, unlike all others.
func (l *loader) addDefinition(def ToolDefinition) {
	if l.cfg.Definitions == nil {
		l.cfg.Definitions = map[string]ToolDefinition{}
	}
	if old, ok := l.cfg.Definitions[def.Name]; ok && old.Source.Home == def.Source.Home {
		l.errs.Add(
			def.Source.File,
			def.Source.Line,
			def.Name,
			"tool is already defined in %s:%d",
			old.Source.File,
			old.Source.Line,
		)
	}
	l.cfg.Definitions[def.Name] = def
}
