package native

import (
	"strings"
	"testing"
)

// Only who never looks at a field goes without it.
func TestUnseen(t *testing.T) {
	t.Parallel()
	const all = "ToolHistory Turns SystemPrompt"
	names := []string{"BeforeChat", "Execute", "ExecuteCommand", "Schema"}
	for _, c := range []struct{ body, want string }{
		{"func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { return " +
			"sdk.Result{Message: c.Agent}, nil }", all},
		{"func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) { return sdk.Result{}, " +
			"nil }", all},
		{"func BeforeChat(ctx context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { use(ctx, " +
			"c.Stats.Turns, len(c.ToolHistory)); return sdk.Result{}, nil }", "Turns SystemPrompt"},
		{"func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { use(c); return " +
			"sdk.Result{}, nil }", ""},
		{"func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { use(&c); return " +
			"sdk.Result{}, nil }", ""},
		{"func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { use(c.Context); " +
			"return sdk.Result{}, nil }", ""},
		{"func BeforeChat(_ context.Context, c BeforeChatContext) (sdk.Result, error) { d := c; use(d); return " +
			"sdk.Result{}, nil }", ""},
		{"var BeforeChat = func(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) { return " +
			"sdk.Result{}, nil }", ""},
		{"func Schema() sdk.ToolSchema { return sdk.ToolSchema{} }\n" +
			"func Execute(ctx context.Context, sc sdk.Context, args map[string]any) (string, error) { use(ctx, " +
			"args); return sc.SystemPrompt, nil }", "ToolHistory Turns"},
		{"func ExecuteCommand(ctx context.Context, args string, sc sdk.Context) (sdk.CommandResult, error) { " +
			"use(args, sc.Turns); return sdk.CommandResult{}, nil }", "ToolHistory SystemPrompt"},
		{"func ExecuteCommand(ctx context.Context, args string, sc sdk.Context) (sdk.CommandResult, error) { " +
			"use(sc); return sdk.CommandResult{}, nil }", ""},
	} {
		files, err := parsePackage(&Tree{Files: []File{{"main.go", []byte("package p\n\n" + c.body + "\n")}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(unseen(files, exportedNames(files, names)), " "); got != c.want {
			t.Errorf("%s\ngoes without %q, want %q", c.body, got, c.want)
		}
	}
}
