package manage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// NewOptions say what a new plugin contains. Without anything it gets a BeforeChat
// hook.
type NewOptions struct {
	Name    string
	Tool    bool
	Command bool
	Hooks   []string // Names of hook functions.
}

// hookNamed is the hook of a function.
func hookNamed(function string) plugin.Hook {
	for _, hook := range plugin.Hooks() {
		if hook.Function == function {
			return hook
		}
	}
	return plugin.Hook{}
}

// hookForm is the results of a hook function and what it returns to change nothing, in Go.
func hookForm(hook plugin.Hook) (results, nothing string) {
	result := hook.Result()
	if result == "" {
		return "error", "nil"
	}
	return "(" + result + ", error)", cmp.Or(hook.Unchanged, result+"{}") + ", nil"
}

// Scaffold writes a new plugin that builds, loads and has a test that passes. The
// SDK is vendored, so that editors know its types at once; no Go toolchain is
// needed for that. It returns the directory and the files in it.
func (m *Manager) Scaffold(ctx context.Context, o NewOptions) (string, []string, error) {
	if err := o.check(); err != nil {
		return "", nil, err
	}
	home, err := m.home()
	if err != nil {
		return "", nil, err
	}
	c, err := m.begin(ctx, home)
	if err != nil {
		return "", nil, err
	}
	defer c.end()
	target := filepath.Join(c.root, o.Name)
	if _, err := os.Lstat(target); err == nil {
		return "", nil, fmt.Errorf("%s exists already", target)
	}
	staged, err := c.stage(o.Name)
	if err != nil {
		return "", nil, err
	}
	files, err := o.files()
	if err != nil {
		return "", nil, err
	}
	names := []string{}
	for _, f := range files {
		file := filepath.Join(staged, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(file, f.text, 0o644); err != nil {
			return "", nil, err
		}
		if !strings.HasPrefix(f.name, "vendor/") {
			names = append(names, f.name)
		}
	}
	info := plugin.Info{Name: o.Name, Dir: staged}
	plugins, err := m.check(ctx, staged, []plugin.Info{info})
	if err != nil {
		return "", nil, err
	}
	if err := c.clash(ctx, o.Name, plugins); err != nil {
		return "", nil, err
	}
	// Not recorded: it is the user's own work, not an installation.
	return target, names, os.Rename(staged, target)
}

// check completes the options and refuses wrong ones.
func (o *NewOptions) check() error {
	if err := checkName(o.Name); err != nil {
		return err
	}
	if !token.IsIdentifier(o.pkg()) || strings.ToLower(o.Name) != o.Name {
		return fmt.Errorf(
			"name %q: a plugin's name is a Go package name: lower case letters, digits and dashes, beginning "+
				"with a letter",
			o.Name,
		)
	}
	var known []string
	for _, row := range plugin.Hooks() {
		known = append(known, row.Function)
	}
	var errs []error
	for i, name := range o.Hooks {
		at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if at < 0 {
			hint := cmp.Or(wording.DidYouMean(name, known), "there are "+strings.Join(known, ", "))
			errs = append(errs, fmt.Errorf("no hook %q (%s)", name, hint))
			continue
		}
		o.Hooks[i] = known[at]
	}
	slices.SortFunc(o.Hooks, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	o.Hooks = slices.Compact(o.Hooks)
	if !o.Tool && !o.Command && len(o.Hooks) == 0 {
		o.Hooks = []string{"BeforeChat"}
	}
	return errors.Join(errs...)
}

func (o *NewOptions) pkg() string { return strings.ReplaceAll(o.Name, "-", "_") }

// toolName is the name in the way of the built-in tools: my-plugin is MyPlugin.
func (o *NewOptions) toolName() string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(o.Name, func(r rune) bool { return r == '-' || r == '_' }) {
		r := []rune(part)
		b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	return b.String()
}

type scaffoldFile struct {
	name string
	text []byte
}

// files are the files of the plugin.
func (o *NewOptions) files() ([]scaffoldFile, error) {
	source, err := format.Source([]byte(o.source()))
	if err != nil {
		return nil, fmt.Errorf("main.go: %w", err)
	}
	test, err := format.Source([]byte(o.test()))
	if err != nil {
		return nil, fmt.Errorf("main_test.go: %w", err)
	}
	list := []scaffoldFile{
		{"go.mod", fmt.Appendf(nil, "module %s\n\n%s\nrequire %s v%s\n", o.Name, goLine(), sdkPath, plugin.HostSDK)},
		{"main.go", source},
		{"main_test.go", test},
		{manifestName, []byte(o.manifest())},
		{
			"vendor/modules.txt",
			fmt.Appendf(
				nil,
				"# %s v%s\n## explicit; %s%s\n%s/version\n",
				sdkPath,
				plugin.HostSDK,
				goLine(),
				sdkPath,
				sdkPath,
			),
		},
	}
	err = eachSDKFile(func(name string, text []byte) error {
		list = append(list, scaffoldFile{path.Join("vendor", sdkPath, name), text})
		return nil
	})
	return list, err
}

// goLine is the go line of the SDK's go.mod.
func goLine() string {
	_, line, _ := bytes.Cut([]byte(sdk.GoMod()), []byte("\n\n"))
	return string(line)
}

func (o *NewOptions) manifest() string {
	text := "description: What this plugin does.\n"
	if len(o.Hooks) > 0 {
		text += "# condition: auto         # call hooks only when this holds\n" +
			"# once: true              # call hooks only once per session\n"
	}
	if o.Tool {
		text += "# opt_in: true            # hide the tool unless it is enabled by name\n"
	}
	return text + "# env: [MY_TOKEN]         # environment variables it may read\n" +
		"# config: {limit: 3}      # defaults for sdk.Context.PluginConfig\n"
}

// source is main.go.
func (o *NewOptions) source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package %s is a plugin for aura.\npackage %s\n\nimport (\n\"context\"\n", o.pkg(), o.pkg())
	if o.Tool || o.Command {
		b.WriteString("\"fmt\"\n")
	}
	fmt.Fprintf(&b, "\n%q\n)\n", sdkPath)
	for _, name := range o.Hooks {
		row := hookNamed(name)
		results, nothing := hookForm(row)
		fmt.Fprintf(&b, "\n// %s runs: %s.\n", name, row.When)
		if may := row.May.Names(); len(may) > 0 {
			fmt.Fprintf(&b, "// It may: %s.\n", strings.Join(may, ", "))
		}
		fmt.Fprintf(
			&b,
			"func %s(ctx context.Context, hctx %s) %s {\nreturn %s\n}\n",
			name,
			row.Context(),
			results,
			nothing,
		)
	}
	if o.Tool {
		fmt.Fprintf(&b, toolSource, o.toolName())
	}
	if o.Command {
		fmt.Fprintf(&b, commandSource, o.Name)
	}
	return b.String()
}

const toolSource = `
// Schema describes the tool to the model.
func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{
		Name:        %q,
		Description: "Greets somebody.",
		Parameters: sdk.ToolParameters{
			Type:       "object",
			Properties: map[string]sdk.ToolProperty{"name": {Type: "string", Description: "Who to greet."}},
			Required:   []string{"name"},
		},
	}
}

// Execute runs the tool. The arguments fit the schema.
func Execute(ctx context.Context, sc sdk.Context, args map[string]any) (string, error) {
	return fmt.Sprintf("Hello, %%v!", args["name"]), nil
}
`

const commandSource = `
// Command describes the slash command.
func Command() sdk.CommandSchema {
	return sdk.CommandSchema{Name: %q, Description: "Says hello.", Hints: []string{"name"}}
}

// ExecuteCommand runs the slash command with what was typed behind it.
func ExecuteCommand(ctx context.Context, args string, sc sdk.Context) (sdk.CommandResult, error) {
	return sdk.CommandResult{Output: fmt.Sprintf("Hello, %%s!", args)}, nil
}
`

// test is main_test.go.
func (o *NewOptions) test() string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\"testing\"\n\n%q\n)\n", o.pkg(), sdkPath)
	for _, name := range o.Hooks {
		left := "_, err"
		row := hookNamed(name)
		if row.Result() == "" {
			left = "err"
		}
		fmt.Fprintf(
			&b,
			"\nfunc Test%s(t *testing.T) {\n%s := %s(t.Context(), %s{})\nif err != nil {\nt.Fatal(err)\n}\n}\n",
			name,
			left,
			name,
			row.Context(),
		)
	}
	if o.Tool {
		b.WriteString(`
func TestExecute(t *testing.T) {
	got, err := Execute(t.Context(), sdk.Context{}, map[string]any{"name": "Ada"})
	if err != nil || got != "Hello, Ada!" {
		t.Fatalf("got %q, %v", got, err)
	}
}
`)
	}
	if o.Command {
		b.WriteString(`
func TestExecuteCommand(t *testing.T) {
	got, err := ExecuteCommand(t.Context(), "Ada", sdk.Context{})
	if err != nil || got.Output != "Hello, Ada!" {
		t.Fatalf("got %q, %v", got.Output, err)
	}
}
`)
	}
	return b.String()
}
