package plugin

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/idelchi/aura/internal/lifecycle"
)

// Hook is a function that a plugin can have, and the moment at which it is called.
type Hook = lifecycle.Row

// Hooks lists them in the order of the moments.
func Hooks() []Hook { return lifecycle.Moments() }

// none is the value of a call that has none.
type none = struct{}

// bindHooks makes a binding of every hook that the plugin exports.
func (p *plugin) bindHooks(when lifecycle.Condition) error {
	for _, row := range Hooks() {
		fn := p.program.lookup(row.Function)
		if fn == nil {
			continue
		}
		var isolated isolation
		handler, ok := row.Adapt(fn, func(ctx context.Context, data any, f func(context.Context) error) error {
			isolated.apply(data)
			_, err := call(ctx, p, p.limit, false, func(ctx context.Context) (none, error) { return none{}, f(ctx) })
			return asFault(err)
		})
		if !ok {
			return fmt.Errorf("%s has the signature %s, expected %s", row.Function, typeOf(fn), row.Signature())
		}
		isolated = p.isolate(reflect.TypeOf(fn).In(1))
		p.bindings = append(p.bindings, lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Plugin, Name: p.name, File: p.dir},
			Moment: row.Moment, Condition: when, Once: p.manifest.Once, // The deadline is our own: see call.
			OnFailure: lifecycle.Failure(p.manifest.OnFailure), Handler: handler, Guard: p.guard,
		})
	}
	p.bindings = slices.Clip(p.bindings)
	return nil
}
