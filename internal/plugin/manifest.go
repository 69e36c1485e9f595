package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/strictyaml"
)

// manifestName marks the root of a plugin.
const manifestName = "plugin.yaml"

// manifest is a plugin.yaml.
type manifest struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Disabled    bool           `yaml:"disabled"`
	Override    bool           `yaml:"override"`
	OptIn       bool           `yaml:"opt_in"`
	Condition   string         `yaml:"condition"`
	Once        bool           `yaml:"once"`
	Env         []string       `yaml:"env"`
	Config      map[string]any `yaml:"config"`
	Timeout     time.Duration  `yaml:"timeout"` // 0 means HookTimeout.
	OnFailure   string         `yaml:"on_failure" enum:"allow block"`
	Engine      string         `yaml:"engine" enum:"yaegi native auto"`
}

// maxManifest bounds what is read of a plugin.yaml.
const maxManifest = 1 << 20

// readManifest reads the plugin.yaml in dir.
func readManifest(dir string) (manifest, error) {
	var m manifest
	file := filepath.Join(dir, manifestName)
	text, err := readFile(file, maxManifest)
	if err != nil {
		return m, err
	}
	if err := strictyaml.Decode(file, 1, text, &m); err != nil {
		return m, err
	}
	if strings.ContainsAny(m.Name, "/\\\"\n\t ") {
		return m, fmt.Errorf("%s: name: %q must be one word without slashes", file, m.Name)
	}
	return m, nil
}

// expr parses the condition; nil means that there is none.
func (m *manifest) expr() (lifecycle.Condition, error) {
	if strings.TrimSpace(m.Condition) == "" {
		return nil, nil
	}
	e, err := condition.Parse(m.Condition)
	if err != nil {
		return nil, fmt.Errorf("%s: condition: %w", manifestName, err)
	}
	return e, nil
}

// timeout is the deadline of hooks and commands.
func (m *manifest) timeout() time.Duration {
	if m.Timeout > 0 {
		return m.Timeout
	}
	return HookTimeout
}

// readFile reads a file of at most limit bytes.
func readFile(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", file)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: %d bytes are more than the allowed %d", file, info.Size(), limit)
	}
	text, err := os.ReadFile(file)
	if err == nil && int64(len(text)) > limit {
		err = errors.New(file + ": grew while it was read")
	}
	return text, err
}
