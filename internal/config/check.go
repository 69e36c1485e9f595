package config

import (
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/templates"
	"github.com/idelchi/aura/internal/wording"
)

// TemplateParts are the templates that a named system prompt can include, such as
// {{ template "agent" . }}.
func TemplateParts() []string { return []string{"agent", "files", "instructions", "mode"} }

// checkTemplate reports bodies that do not parse or include what does not exist.
// Built-in bodies are checked by tests, not at every start.
func (l *loader) checkTemplate(source Source, body string, parts []string) {
	if source.Builtin() || !strings.Contains(body, "{{") {
		return
	}
	const name = "body"
	t, err := templates.New(name).Parse(body)
	if err != nil {
		line, msg := templates.Mistake(name, err)
		l.errs.Add(source.File, source.BodyLine+line-1, "", "template: %s", strings.TrimSpace(msg))
		return
	}
	for _, defined := range t.Templates() {
		if defined.Tree == nil {
			continue
		}
		includes(defined.Root, func(n *parse.TemplateNode) {
			if t.Lookup(n.Name) != nil {
				return
			}
			for _, part := range parts {
				if part == n.Name {
					return
				}
			}
			why := wording.Hint(n.Name, "parts", parts)
			if len(parts) == 0 {
				why = " (only prompts can include parts)"
			}
			line := source.BodyLine + n.Line - 1
			l.errs.Add(source.File, line, "", "template: no template %q%s", wording.Short(n.Name), why)
		})
	}
}

// includes calls do for every {{ template }} below n.
func includes(n parse.Node, do func(*parse.TemplateNode)) {
	branch := func(b *parse.BranchNode) {
		includes(b.List, do)
		if b.ElseList != nil {
			includes(b.ElseList, do)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			includes(child, do)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.TemplateNode:
		do(n)
	}
}

// reference is a key whose value names something else.
type reference struct {
	path []string
	kind string
}

// agentReferences and featureReferences list the keys that name other definitions.
func agentReferences() []reference {
	return []reference{
		{[]string{"mode"}, "modes"},
		{[]string{"system"}, "prompts"},
		{[]string{"model", "provider"}, "providers"},
		{[]string{"fallback"}, "agents"},
	}
}

func featureReferences() []reference {
	return []reference{
		{[]string{"compaction", "agent"}, "agents"},
		{[]string{"compaction", "prompt"}, "prompts"},
		{[]string{"title", "agent"}, "agents"},
		{[]string{"title", "prompt"}, "prompts"},
		{[]string{"subagent", "agent"}, "agents"},
	}
}

// checkNames reports names in files that nothing answers to.
func (l *loader) checkNames() {
	for _, layer := range l.cfg.layers {
		l.cfg.checkFeatureNames(layer.decoder(&l.errs), layer.node, "", l.broken)
	}
	for _, def := range l.agents {
		d := def.decoder(&l.errs)
		for _, ref := range agentReferences() {
			l.cfg.checkReference(d, def.node, "", ref, l.broken)
		}
		l.cfg.checkFeatureNames(d, strictyaml.Find(def.node, "features"), "features", l.broken)
	}
	for _, def := range l.modes {
		d := def.decoder(&l.errs)
		l.cfg.checkFeatureNames(d, strictyaml.Find(def.node, "features"), "features", l.broken)
	}
}

func (c *Config) checkFeatureNames(d *strictyaml.Decoder, n *yaml.Node, path string, broken map[string]bool) {
	for _, ref := range featureReferences() {
		c.checkReference(d, n, path, ref, broken)
	}
}

// checkReference checks one key, a name or a list of names. When files of the named
// kind could not be read nobody knows what they define, and nothing is reported.
func (c *Config) checkReference(
	d *strictyaml.Decoder, n *yaml.Node, path string, ref reference, broken map[string]bool,
) {
	value := strictyaml.Find(n, ref.path...)
	if value == nil || broken[ref.kind] {
		return
	}
	path = strictyaml.Join(path, strings.Join(ref.path, "."))
	if value.Kind == yaml.SequenceNode {
		for i, item := range value.Content {
			c.checkName(d, item, path+"["+strconv.Itoa(i)+"]", ref.kind)
		}
		return
	}
	c.checkName(d, value, path, ref.kind)
}

func (c *Config) checkName(d *strictyaml.Decoder, n *yaml.Node, path, kind string) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		return
	}
	var err error
	switch kind {
	case "agents":
		_, err = c.Agent(n.Value)
	case "modes":
		_, err = c.Mode(n.Value)
	case "prompts":
		_, err = c.Prompt(n.Value)
	case "providers":
		_, err = c.Provider(n.Value)
	}
	if err != nil {
		d.Errorf(n, path, "%v", err)
	}
}
