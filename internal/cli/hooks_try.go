package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/hooks"
)

// hookTest are the flags of `aura hooks test`.
type hookTest struct {
	event  string
	tool   string
	output string
	text   string
}

func newHooksTest(e *env) *cobra.Command {
	var f hookTest
	cmd := &cobra.Command{
		Use:   "test [ARGUMENTS]",
		Short: "Run the hooks that would fire and show what they decide",
		Long: `Runs the hooks that would fire for a tool call, without making the call: which
ones, in which order, what each printed and decided, how long it took. The hooks
are really run. ARGUMENTS is the JSON object of the call.

With another event, --text is the text that the moment is about.`,
		Example: `  aura hooks test --event pre --tool Bash '{"command": "rm -rf x"}'
  aura hooks test --event post --tool Write --output "wrote a.go" '{"path": "a.go", "content": ""}'
  aura hooks test --event user_message --text "hello"`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return testHooks(cmd.Context(), e, f, args) },
	}
	cmd.Flags().StringVar(&f.event, "event", "pre", "event of the hooks")
	cmd.Flags().StringVar(&f.tool, "tool", "", "tool that is called")
	cmd.Flags().StringVar(&f.output, "output", "", "result of the tool, for post hooks")
	cmd.Flags().StringVar(&f.text, "text", "", "text of the user, the answer or the error, for other events")
	return cmd
}

func testHooks(ctx context.Context, e *env, f hookTest, args []string) error {
	if err := hooks.CheckEvent(f.event); err != nil {
		return &usageError{fmt.Errorf("--event: %w", err)}
	}
	values := map[string]any{}
	if len(args) == 1 {
		if err := json.Unmarshal([]byte(args[0]), &values); err != nil {
			return &usageError{fmt.Errorf("arguments are not a JSON object: %w", err)}
		}
	}
	if onTool := f.event == "pre" || f.event == "post"; onTool == (f.tool == "") {
		return &usageError{errors.New("--tool goes with --event pre or post, and must be given there")}
	}
	trial := hooks.Trial{Event: f.event, Tool: f.tool, Arguments: values, Output: f.output, Text: f.text}
	return withHooks(ctx, e, trial.Note, func(ctx context.Context, s hookSession) error {
		if err := knownTool(s.app, f.tool); err != nil {
			return &usageError{err}
		}
		trial.Check = checkCall(s.app, f.tool)
		return trial.Run(ctx, e.out, s.set, s.app.Agent().Snapshot())
	})
}

// knownTool refuses the name of a tool that does not exist. Names of MCP tools pass: the
// servers are not asked.
func knownTool(a *app.App, name string) error {
	names := a.ToolNames()
	if name == "" || strings.HasPrefix(name, "mcp__") || slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("--tool: %w", noTool(name, names))
}

// checkCall refuses arguments that the tool does not take.
func checkCall(a *app.App, name string) func(map[string]any) error {
	return func(arguments map[string]any) error {
		for _, t := range a.Commands().Tools() {
			if t.Name != name {
				continue
			}
			if err := checked(&t, arguments); err != nil {
				return err
			}
		}
		return nil
	}
}
