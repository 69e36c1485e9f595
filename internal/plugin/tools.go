package plugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// The functions of a tool.
type (
	schemaFunc  = func() sdk.ToolSchema
	executeFunc = func(context.Context, sdk.Context, map[string]any) (string, error)
	pathsFunc   = func(map[string]any) (sdk.ToolPaths, error)
	boolFunc    = func() bool
	initFunc    = func(sdk.ToolConfig)
)

// bindTool makes a tool of the plugin's tool functions, if it has any.
func (p *plugin) bindTool(ctx context.Context, o Options) error {
	rawSchema, rawExecute := p.program.lookup("Schema"), p.program.lookup("Execute")
	schema, okSchema := rawSchema.(schemaFunc)
	execute, okExecute := rawExecute.(executeFunc)
	switch {
	case rawSchema == nil && !okExecute: // An Execute of another kind is the plugin's own affair.
		return p.initialise(ctx, o, false)
	case rawSchema == nil:
		return errors.New("Execute is exported without Schema: a tool needs both")
	case !okSchema:
		return fmt.Errorf("Schema has the signature %s, expected %T", typeOf(rawSchema), schemaFunc(nil))
	case rawExecute == nil:
		return errors.New("Schema is exported without Execute: a tool needs both")
	case !okExecute:
		return fmt.Errorf("Execute has the signature %s, expected %T", typeOf(rawExecute), executeFunc(nil))
	}
	if err := p.initialise(ctx, o, true); err != nil {
		return err
	}
	t := &tool.Tool{
		Source: tool.Source{Kind: "plugin", Name: p.name},
		Serial: !p.ask(ctx, "Parallel", true), InProcess: !p.ask(ctx, "Sandboxable", true), OptIn: p.manifest.OptIn,
		Override: p.manifest.Override,
	}
	t.Execute = p.execute(execute, !t.Serial)
	if paths, ok := optional[pathsFunc](p, "Paths"); ok {
		t.Paths = p.paths(paths)
	}
	available := p.ask(ctx, "Available", true)
	s, err := run(ctx, p, schema)
	if err != nil {
		return fmt.Errorf("Schema: %w", err)
	}
	if !validName(s.Name) {
		return fmt.Errorf("Schema: name %q: expected letters, digits, \"_\" and \"-\", at most 64", s.Name)
	}
	t.Name, t.Description, t.Usage, t.Examples, t.Schema = s.Name, s.Description, s.Usage, s.Examples, tool.FromSDK(
		s.Parameters,
	)
	if available {
		p.tool = t
	}
	return nil
}

// initialise calls Init. A plugin that is no tool may use the name otherwise.
func (p *plugin) initialise(ctx context.Context, o Options, isTool bool) error {
	f, ok := p.program.lookup("Init").(initFunc)
	if isTool {
		f, ok = optional[initFunc](p, "Init")
	}
	if !ok {
		return nil
	}
	if _, err := run(ctx, p, func() any { f(o.Tool); return nil }); err != nil {
		return fmt.Errorf("Init: %w", err)
	}
	return nil
}

// optional returns an optional function. One with another signature is named in a
// warning and does not count.
func optional[F any](p *plugin, name string) (f F, ok bool) {
	raw := p.program.lookup(name)
	if raw == nil {
		return f, false
	}
	if f, ok = raw.(F); !ok {
		p.warnings = append(
			p.warnings,
			fmt.Sprintf(
				"warning: plugin %s exports %s with wrong signature (got %s), ignoring",
				p.name,
				name,
				typeOf(raw),
			),
		)
	}
	return f, ok
}

// ask calls an optional function that answers yes or no. One that fails is named in
// a warning and does not count.
func (p *plugin) ask(ctx context.Context, name string, otherwise bool) bool {
	f, ok := optional[boolFunc](p, name)
	if !ok {
		return otherwise
	}
	answer, err := run(ctx, p, f)
	if err != nil {
		p.warnings = append(p.warnings, fmt.Sprintf("warning: plugin %s: %s: %v, ignoring", p.name, name, err))
		return otherwise
	}
	return answer
}

// execute makes the Execute of a tool.
func (p *plugin) execute(f executeFunc, parallel bool) func(context.Context, tool.Call) (tool.Result, error) {
	limit := max(ToolTimeout, p.limit)
	isolated := p.isolate(reflect.TypeFor[sdk.Context]())
	return func(ctx context.Context, tc tool.Call) (tool.Result, error) {
		c, args := tc.Context, tool.CloneArgs(tc.Args)
		c.Workdir = tc.Workdir
		if args == nil {
			args = map[string]any{}
		}
		isolated.apply(&c)
		text, err := call(ctx, p, limit, parallel && p.overlaps, func(ctx context.Context) (string, error) {
			if p.renew != nil {
				if err := p.renew(); err != nil {
					return "", err
				}
			}
			return f(ctx, c, args)
		})
		if err != nil {
			return tool.Result{}, p.named(err)
		}
		return tool.Result{Text: text}, nil
	}
}

// paths makes the Paths of a tool.
func (p *plugin) paths(f pathsFunc) func(map[string]any) (sdk.ToolPaths, error) {
	return func(args map[string]any) (sdk.ToolPaths, error) {
		args = tool.CloneArgs(args)
		ask := func(context.Context) (sdk.ToolPaths, error) { return f(args) }
		out, err := guarded(context.Background(), p, foreign.Call[sdk.ToolPaths], p.limit, false, ask)
		if err != nil {
			return sdk.ToolPaths{}, p.named(err)
		}
		return out, nil
	}
}

// validName reports whether every provider takes a name of a tool.
func validName(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}
