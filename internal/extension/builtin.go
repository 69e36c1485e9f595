package extension

import (
	"context"
	"slices"

	"github.com/idelchi/aura/internal/lifecycle"
)

// Guards is the built-in gates as a kind of extension.
func Guards(bindings []lifecycle.Binding) Kind {
	return Kind{
		Name: "guards", Title: "Guards", Handlers: lifecycle.Guard,
		Load: func(context.Context, *Loaded) (Loaded, error) {
			return Loaded{
				Bindings: func() []lifecycle.Binding { return bindings },
				List:     func() []Item { return guardItems(bindings) },
			}, nil
		},
	}
}

// guardItems names each guard once, with its moments.
func guardItems(bindings []lifecycle.Binding) []Item {
	var list []Item
	for _, b := range bindings {
		i := slices.IndexFunc(list, func(x Item) bool { return x.Name == b.Source.Name })
		if i < 0 {
			i = len(list)
			list = append(list, Item{Name: b.Source.Name, Status: "active", Origin: "builtin"})
		}
		list[i].Moments = append(list[i].Moments, string(b.Moment))
	}
	return list
}
