package plugin

import (
	"context"
	"errors"
	"io"
)

// engine turns the source of a plugin into functions that can be called.
type engine interface {
	load(ctx context.Context, src *source, w world) (program, error)
}

// program is a plugin that has been loaded: its package variables are set and its
// init functions have run.
type program interface {
	// lookup returns an exported function as a Go func value, nil if there is none.
	lookup(name string) any
	// kill ends whatever runs in the program, as far as the engine can; afterwards
	// nothing of it may be called.
	kill()
}

// world is what a program sees of its surroundings.
type world struct {
	name   string // Of the plugin.
	env    *environment
	output io.Writer // What it prints.
	unsafe bool
}

// engines by their names in plugin.yaml.
func engineFor(name string) (engine, error) {
	switch name {
	case "native":
		return nil, errors.New(`engine: "native" is not available yet (use "yaegi", or leave the key out)`)
	default: // "auto" tries Yaegi first.
		return yaegi{}, nil
	}
}
