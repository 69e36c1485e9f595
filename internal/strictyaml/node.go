package strictyaml

import "go.yaml.in/yaml/v4"

// Join is the path of a key below path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Find walks down mappings and gives the value at a key path, nil when there is none.
// Aliases are followed.
func Find(n *yaml.Node, path ...string) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || len(path) == 0 {
		return n
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			return Find(n.Content[i+1], path[1:]...)
		}
	}
	return nil
}

// Each calls do with the pairs of a mapping as they are written.
func Each(n *yaml.Node, do func(key, value *yaml.Node)) {
	if n = Find(n); n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		do(n.Content[i], n.Content[i+1])
	}
}
