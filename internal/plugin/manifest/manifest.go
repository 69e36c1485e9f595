// Package manifest is the file that marks a plugin and says how it is used, plugin.yaml.
package manifest

import (
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/strictyaml"
)

// Name marks the root of a plugin.
const Name = "plugin.yaml"

// Manifest is a plugin.yaml.
type Manifest struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Disabled    bool           `yaml:"disabled"`
	Override    bool           `yaml:"override"`
	OptIn       bool           `yaml:"opt_in"`
	Condition   string         `yaml:"condition"`
	Once        bool           `yaml:"once"`
	Env         []string       `yaml:"env"`
	Config      map[string]any `yaml:"config"`
	Timeout     time.Duration  `yaml:"timeout"` // Of hooks and commands; 0 is the usual one.
	OnFailure   string         `yaml:"on_failure" enum:"allow block"`
	Engine      string         `yaml:"engine" enum:"yaegi native auto"`
}

// Parse reads the text of a plugin.yaml; file is its path, for errors.
func Parse(file string, text []byte) (Manifest, error) {
	var m Manifest
	if err := strictyaml.Decode(file, 1, text, &m); err != nil {
		return m, err
	}
	if strings.ContainsAny(m.Name, "/\\\"\n\t ") {
		return m, fmt.Errorf("%s: name: %q must be one word without slashes", file, m.Name)
	}
	return m, nil
}

// When parses the condition; nil means that there is none.
func (m *Manifest) When() (*condition.Expr, error) {
	if strings.TrimSpace(m.Condition) == "" {
		return nil, nil
	}
	e, err := condition.Parse(m.Condition)
	if err != nil {
		return nil, fmt.Errorf("%s: condition: %w", Name, err)
	}
	return e, nil
}
