package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin/native"
)

// engine turns the source of a plugin into functions that can be called.
type engine interface {
	load(ctx context.Context, w world) (program, error)
}

// program is a plugin that has been loaded: its package variables are set and its
// init functions have run.
type program interface {
	// lookup returns an exported function, one of those in functions, as a Go func value,
	// nil if there is none, or as its signature if it has one that the engine cannot call.
	lookup(name string) any
	// traits says how the program may be called.
	traits() traits
	// kill ends whatever runs in the program, as far as the engine can; afterwards
	// nothing of it may be called.
	kill()
}

// traits are how a program may be called.
type traits struct {
	engine   string
	overlaps bool // Calls may run side by side.
	remote   bool // Functions that take a context return when that ends, and go on elsewhere.

	// reaches reports whether the program could change a field of that name and type in
	// what it gets; nil: it gets copies of everything.
	reaches func(name string, t reflect.Type) bool
}

// functions are the types of all functions that a plugin may export, by their names.
func functions() map[string]reflect.Type {
	types := map[string]reflect.Type{
		"Schema":      reflect.TypeFor[schemaFunc](),
		"Execute":     reflect.TypeFor[executeFunc](),
		"Paths":       reflect.TypeFor[pathsFunc](),
		"Sandboxable": reflect.TypeFor[boolFunc](),
		"Parallel":    reflect.TypeFor[boolFunc](),
		"Available":   reflect.TypeFor[boolFunc](),
		"Init":        reflect.TypeFor[initFunc](),

		"Command":        reflect.TypeFor[commandFunc](),
		"ExecuteCommand": reflect.TypeFor[executeCommandFunc](),
	}
	for _, row := range lifecycle.Moments() {
		types[row.Function] = row.FunctionType()
	}
	return types
}

// signature is the type of a function that an engine cannot call.
type signature string

// typeOf names the type of what lookup returned.
func typeOf(fn any) string {
	if s, ok := fn.(signature); ok {
		return string(s)
	}
	return fmt.Sprintf("%T", fn)
}

// world is what a program sees of its surroundings, and how it is found.
type world struct {
	name   string // Of the plugin.
	dir    string
	env    *environment
	output io.Writer // What it prints.
	unsafe bool

	workdir string // For programs with a process of their own.
	cache   string
	log     *slog.Logger
	tell    func(text string) // Says something to the user.
}

// engines by their names in plugin.yaml.
func engineFor(name string) engine {
	switch name {
	case "native":
		return compiler{}
	case "auto":
		return automatic{}
	default:
		return yaegi{}
	}
}

// automatic is the engine that interprets what the interpreter can, and compiles the
// rest.
type automatic struct{}

func (automatic) load(ctx context.Context, w world) (program, error) {
	p, limit := yaegi{}.load(ctx, w)
	if limit == nil || errors.As(limit, new(*unsafeError)) || errors.Is(limit, errSlow) {
		return p, limit
	}
	w.log.Info("the interpreter cannot load a plugin, trying the compiler", "plugin", w.name, "error", limit)
	p, err := compiler{}.load(ctx, w)
	if errors.Is(err, native.ErrNoToolchain) {
		return nil, fmt.Errorf("%w (a compiler might do better, but there is no Go toolchain on the PATH)", limit)
	}
	return p, err
}
