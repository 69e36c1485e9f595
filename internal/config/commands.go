package config

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// Command is a slash command that somebody wrote in Markdown: a text for the model
// with places for arguments.
type Command struct {
	Source      Source `yaml:"-"`
	Name        string `yaml:"name"` // Empty is the file name without its extension.
	Description string `yaml:"description"`
	Hints       Lines  `yaml:"hints"` // Labels of the arguments.
	Body        string `yaml:"-"`
}

// Lines is written as one text or as a list of texts.
type Lines []string

func (l *Lines) DecodeYAML(d *strictyaml.Decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Content: []*yaml.Node{n}}
	}
	var list []string
	if !d.Decode(n, &list, path) {
		return
	}
	*l = slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" })
}

func (l *loader) command(f File) {
	var c Command
	d, n, doc, ok := l.markdown(f, &c)
	if !ok {
		return
	}
	c.Source = Source{File: f.Path, Home: f.Home, Line: max(doc.FrontLine, 1), BodyFile: f.Path, BodyLine: doc.BodyLine}
	at := strictyaml.Find(n, "name")
	if c.Name == "" {
		base := filepath.Base(f.Path)
		c.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	switch name := strings.TrimPrefix(c.Name, "/"); {
	case name != c.Name && name != "" && !strings.ContainsAny(name, "/ \t\r\n"):
		d.Errorf(at, "name", "%q begins with a slash (write %q)", wording.Short(c.Name), wording.Short(name))
	case name == "" || strings.ContainsAny(c.Name, "/ \t\r\n"):
		d.Errorf(at, "name", "%q is no name of a command: blanks and slashes are not allowed", wording.Short(c.Name))
	}
	if c.Body = doc.Body; strings.TrimSpace(c.Body) == "" {
		l.errs.Add(f.Path, 0, "", "command has no text: what follows the frontmatter is sent to the model")
	}
	l.cfg.Commands = replace(
		l,
		l.cfg.Commands,
		c,
		"command",
		func(c Command) (string, Source) { return c.Name, c.Source },
	)
}

// replace keeps a list sorted by name. An item of a later home takes the place of one
// of the same name, without regard to case; of the same home it is a mistake.
func replace[T any](l *loader, list []T, item T, what string, of func(T) (string, Source)) []T {
	name, source := of(item)
	for i, old := range list {
		oldName, oldSource := of(old)
		if !strings.EqualFold(oldName, name) {
			continue
		}
		if oldSource.Home == source.Home {
			l.errs.Add(
				source.File,
				source.Line,
				"",
				"%s %q is already defined in %s:%d",
				what,
				wording.Short(name),
				oldSource.File,
				oldSource.Line,
			)
		}
		list[i] = item
		return list
	}
	i, _ := slices.BinarySearchFunc(list, name, func(a T, b string) int { n, _ := of(a); return compareFold(n, b) })
	return slices.Insert(list, i, item)
}
