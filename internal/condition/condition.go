// Package condition is the small language in which plugins, tools and the
// /assert command say when something applies. It reads a snapshot of the
// conversation and changes nothing; running shell commands is left to the caller.
package condition

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idelchi/aura/sdk"
)

// ShellTimeout is how long a `bash:` term may run before it counts as false.
const ShellTimeout = 120 * time.Second

// Expr is a parsed condition: terms joined by "and". The nil *Expr is always
// true. An Expr is immutable and may be used by several goroutines.
type Expr struct {
	source string
	tests  []test
}

// test is one term of an expression with its argument.
type test struct {
	*term
	negated bool
	number  float64
	value   string
}

// String returns the text the expression was parsed from, without blanks
// around it; empty for nil.
func (e *Expr) String() string {
	if e == nil {
		return ""
	}
	return e.source
}

// NeedsModel reports whether a term reads facts about the model, so that a
// caller knows to resolve them first.
func (e *Expr) NeedsModel() bool {
	if e == nil {
		return false
	}
	for _, t := range e.tests {
		if t.model {
			return true
		}
	}
	return false
}

// Eval reports whether all terms hold. They are evaluated from left to right
// and the first false one ends the evaluation. A context that ends while a
// shell command runs makes the whole expression false, also a negated term:
// a cancelled command has proved nothing.
//
// The terms read snapshot; nil means the zero Context. shell runs the command of a
// `bash:` term in the working directory of the snapshot and reports whether it exited
// with 0. It must return when ctx ends. Nil means that every such term is false.
func (e *Expr) Eval(ctx context.Context, snapshot *sdk.Context, shell func(context.Context, string) bool) bool {
	if e == nil {
		return true
	}
	if snapshot == nil {
		snapshot = &sdk.Context{}
	}
	for _, t := range e.tests {
		if t.holds(ctx, snapshot, shell) == t.negated {
			return false
		}
		if t.shell && ctx.Err() != nil {
			return false
		}
	}
	return true
}

// holds evaluates the term without its negation.
func (t *test) holds(ctx context.Context, c *sdk.Context, shell func(context.Context, string) bool) bool {
	switch {
	case t.is != nil:
		return t.is(c)
	case t.above != nil:
		n := t.above(c)
		// Zero facts about a model mean that nobody knows them yet.
		return n > t.number && !(t.model && n == 0)
	case t.below != nil:
		n := t.below(c)
		return n < t.number && !(t.model && n == 0)
	case t.match != nil:
		return t.match(c, t.value)
	case t.shell:
		if shell == nil || ctx.Err() != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, ShellTimeout)
		defer cancel()
		return shell(ctx, t.value) && ctx.Err() == nil
	}
	return false
}

func modelIs(c *sdk.Context, name string) bool {
	return strings.EqualFold(c.ModelInfo.Name, name)
}

func exists(c *sdk.Context, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Workdir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}
