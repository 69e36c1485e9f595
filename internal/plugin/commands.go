package plugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// The functions of a command.
type (
	commandFunc        = func() sdk.CommandSchema
	executeCommandFunc = func(context.Context, string, sdk.Context) (sdk.CommandResult, error)
)

// bindCommand makes a slash command of the plugin's command functions, if it has
// them.
func (p *plugin) bindCommand(ctx context.Context) error {
	rawSchema, rawRun := p.program.lookup("Command"), p.program.lookup("ExecuteCommand")
	schema, okSchema := rawSchema.(commandFunc)
	execute, okRun := rawRun.(executeCommandFunc)
	switch {
	case rawSchema == nil && rawRun == nil:
		return nil
	case rawRun == nil:
		return errors.New("Command is exported without ExecuteCommand: a command needs both")
	case rawSchema == nil:
		return errors.New("ExecuteCommand is exported without Command: a command needs both")
	case !okSchema:
		return fmt.Errorf("Command has the signature %s, expected %T", typeOf(rawSchema), commandFunc(nil))
	case !okRun:
		return fmt.Errorf("ExecuteCommand has the signature %s, expected %T", typeOf(rawRun), executeCommandFunc(nil))
	}
	s, err := run(ctx, p, schema)
	if err != nil {
		return fmt.Errorf("Command: %w", err)
	}
	s.Name = strings.TrimPrefix(s.Name, "/")
	if s.Name == "" || strings.ContainsAny(s.Name, "/ \t\r\n") {
		return fmt.Errorf("Command: name %q must be one word", s.Name)
	}
	isolated := p.isolate(reflect.TypeFor[sdk.Context]())
	p.command = &tool.Command{
		CommandSchema: s, Source: tool.Source{Kind: "plugin", Name: p.name},
		Run: func(ctx context.Context, args string, snapshot sdk.Context) (sdk.CommandResult, error) {
			isolated.apply(&snapshot)
			r, err := call(ctx, p, p.limit, false, func(ctx context.Context) (sdk.CommandResult, error) {
				return execute(ctx, args, snapshot)
			})
			if err != nil {
				return sdk.CommandResult{}, p.named(err)
			}
			return r, nil
		},
	}
	return nil
}
