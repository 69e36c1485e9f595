package guard

import (
	"context"
	"slices"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
)

// Kind is the built-in gates as a kind of extension. They are given by the bindings,
// those of other packages included.
func Kind(bindings []lifecycle.Binding) extension.Kind {
	return extension.Kind{
		Name: "guards", Title: "Guards", Handlers: lifecycle.Guard,
		Load: func(context.Context, *extension.Loaded) (extension.Loaded, error) {
			return extension.Loaded{
				Bindings: func() []lifecycle.Binding { return bindings },
				List:     func() []extension.Item { return items(bindings) },
			}, nil
		},
	}
}

// items names each guard once, with its moments.
func items(bindings []lifecycle.Binding) []extension.Item {
	var list []extension.Item
	for _, b := range bindings {
		i := slices.IndexFunc(list, func(x extension.Item) bool { return x.Name == b.Source.Name })
		if i < 0 {
			i = len(list)
			list = append(list, extension.Item{Name: b.Source.Name, Status: "active", Origin: "builtin"})
		}
		list[i].Moments = append(list[i].Moments, string(b.Moment))
	}
	return list
}
