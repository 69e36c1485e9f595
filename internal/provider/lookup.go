package provider

import "github.com/idelchi/aura/internal/catalogue"

// Capabilities of models, the values of ModelInfo.Capabilities.
const (
	Vision          = catalogue.Vision
	Tools           = catalogue.Tools
	Thinking        = catalogue.Thinking
	ThinkingLevels  = catalogue.ThinkingLevels
	Embedding       = catalogue.Embedding
	Reranking       = catalogue.Reranking
	ContextOverride = catalogue.ContextOverride
)

// Lookup describes a model by its name alone: what the catalogue knows, and the parameter
// count that the name states. If nothing is known it returns false, and the name and the
// parameter count.
func Lookup(name string) (ModelInfo, bool) {
	m, ok := catalogue.Lookup(name)
	return ModelInfo{
		Name: name, ParameterCount: catalogue.Parameters(name),
		Family: m.Family, ContextLength: m.Context, Capabilities: m.Capabilities,
	}, ok
}

// Hosted reports whether the models of a family have the same context length wherever they
// are offered.
func Hosted(family string) bool { return catalogue.Hosted(family) }
