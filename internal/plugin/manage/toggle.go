package manage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/atomicfile"
	"github.com/idelchi/aura/internal/plugin"
)

// SetEnabled switches a plugin, or every plugin of a pack, on or off by editing
// `disabled` in plugin.yaml; every other byte of the file stays. It returns the
// plugins that were changed.
func (m *Manager) SetEnabled(ctx context.Context, name string, on bool) ([]plugin.Info, error) {
	u, one, err := m.find(ctx, name)
	if err != nil {
		return nil, err
	}
	list := u.Plugins
	if one != nil {
		list = []plugin.Info{*one}
	}
	var changed []plugin.Info
	for _, p := range list {
		did, err := setDisabled(p.Dir, !on)
		if err != nil {
			return changed, fmt.Errorf("plugin %q: %w", p.Name, err)
		}
		if did {
			changed = append(changed, p)
		}
	}
	return changed, nil
}

// isDisabled reads `disabled` of a plugin.
func isDisabled(dir string) (bool, error) {
	text, err := readRecord(filepath.Join(dir, manifestName))
	if err != nil {
		return false, err
	}
	var m struct {
		Disabled bool `yaml:"disabled"`
	}
	err = yaml.Unmarshal(text, &m)
	return m.Disabled, err
}

// setDisabled edits the plugin.yaml in dir and reports whether that changed it.
func setDisabled(dir string, disabled bool) (bool, error) {
	file := filepath.Join(dir, manifestName)
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	text, err := readRecord(file)
	if err != nil {
		return false, err
	}
	out, err := editDisabled(text, disabled)
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(out, text) {
		return false, nil
	}
	// A link keeps pointing to the file that is changed.
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return false, err
	}
	return true, atomicfile.Write(file, out, info.Mode().Perm())
}

// editDisabled sets `disabled` in the text of a plugin.yaml.
func editDisabled(text []byte, disabled bool) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	var root *yaml.Node
	if len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	if root != nil && root.Kind != yaml.MappingNode && !(root.Kind == yaml.ScalarNode && root.Tag == "!!null") {
		return nil, errors.New("it is not a list of keys")
	}
	value := "false"
	if disabled {
		value = "true"
	}
	var out []byte
	switch node := lookup(root, "disabled"); {
	case node != nil:
		var is bool
		if err := node.Decode(&is); err != nil {
			return nil, fmt.Errorf("line %d: disabled: %w", node.Line, err)
		}
		if is == disabled {
			return text, nil
		}
		start := offset(text, node.Line, node.Column)
		if start < 0 || node.Style != 0 || node.Anchor != "" || !bytes.HasPrefix(text[start:], []byte(node.Value)) ||
			node.Value == "" {
			return nil, fmt.Errorf(
				"line %d: disabled is written in a way that cannot be edited: write \"disabled: %s\"",
				node.Line,
				value,
			)
		}
		out = append(append(append(out, text[:start]...), value...), text[start+len(node.Value):]...)
	case !disabled:
		return text, nil
	default:
		out = insertKey(text, root, "disabled: "+value)
	}
	return out, sameExcept(text, out, "disabled", disabled)
}

// lookup returns the value of a key of a mapping.
func lookup(m *yaml.Node, key string) *yaml.Node {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// offset is the position of a line and column, both from 1; -1 outside the text.
// Columns count characters.
func offset(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	rest := text[at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	n := 0
	for i := range string(rest) {
		if n++; n == column {
			return at + i
		}
	}
	return -1
}

// insertKey adds a key before the first one, or at the end of a file without keys.
func insertKey(text []byte, root *yaml.Node, line string) []byte {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	if root != nil && root.Kind == yaml.MappingNode {
		at := offset(text, root.Line, root.Column)
		if root.Style&yaml.FlowStyle != 0 && at >= 0 {
			sep := ", "
			if len(root.Content) == 0 {
				sep = ""
			}
			return []byte(string(text[:at+1]) + line + sep + string(text[at+1:]))
		}
		if at >= 0 {
			indent := strings.Repeat(" ", root.Column-1)
			return []byte(string(text[:at]) + line + end + indent + string(text[at:]))
		}
	}
	out := string(text)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += end
	}
	return []byte(out + line + end)
}

// sameExcept makes sure that an edit changed one key only.
func sameExcept(before, after []byte, key string, value any) error {
	var a, b map[string]any
	if err := yaml.Unmarshal(before, &a); err != nil {
		return err
	}
	if err := yaml.Unmarshal(after, &b); err != nil {
		return fmt.Errorf("it cannot be edited safely: %w", err)
	}
	got := b[key]
	delete(a, key)
	delete(b, key)
	if got != value || len(a) != len(b) || len(a) > 0 && !reflect.DeepEqual(a, b) {
		return fmt.Errorf("it cannot be edited safely: write \"%s: %v\" into it yourself", key, value)
	}
	return nil
}
