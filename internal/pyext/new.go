package pyext

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// contrib is where extensions that ship with the program are.
const contrib = "agent/extensions/contrib"

// Contrib lists the extensions that ship with the program. They do not run unless
// somebody copies them.
func Contrib() (names []string) {
	entries, _ := fs.ReadDir(Sources(), contrib)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".py"); ok && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	return names
}

// ContribExtension is an extension that ships with the program; ok is false if
// there is none of that name.
func ContribExtension(cache, name string) (e Extension, ok bool) {
	if _, err := fs.Stat(Sources(), contrib+"/"+name+".py"); err != nil {
		return e, false
	}
	dir, err := unpack(cache)
	if err != nil {
		return e, false
	}
	return Extension{
		Name: name,
		Tier: "contrib",
		Path: filepath.Join(dir, filepath.FromSlash(contrib), name+".py"),
	}, true
}

// Create writes a new extension into a directory: a copy of one that ships with the
// program, or a beginning of its own if from is empty.
func Create(dir, name, from string) (string, error) {
	if !validName(name) {
		return "", fmt.Errorf("name %q: letters, digits, - and _ only, and a letter first", name)
	}
	text := strings.ReplaceAll(template, "NAME", name)
	if from != "" {
		data, err := fs.ReadFile(Sources(), contrib+"/"+from+".py")
		if err != nil {
			return "", fmt.Errorf("no extension %q ships with aura (there is: %s)", from, strings.Join(Contrib(), ", "))
		}
		text = string(data)
	}
	path := filepath.Join(dir, name+".py")
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
		return "", fmt.Errorf("%s exists already", filepath.Join(dir, name))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		if os.IsExist(err) {
			err = fmt.Errorf("%s exists already", path)
		}
		return "", err
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Close()
	}
	return path, err
}

func validName(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '_' || r == '-')) {
			return false
		}
	}
	return name != ""
}

// template is a new extension: everything that can be registered, once.
const template = `"""NAME: say here what it is for."""

from agent.extensions.api import BlockResult, ExtensionAPI, ExtensionContext


def register(api: ExtensionAPI) -> None:
    @api.on("session_start")
    def on_start(event, ctx: ExtensionContext) -> None:
        ctx.logger.info("NAME is ready")

    # Look at every tool call before it happens; api.block(reason) prevents it.
    @api.on("tool_call")
    def on_tool_call(event, ctx: ExtensionContext) -> BlockResult | None:
        if "rm -rf /" in event.arguments.get("command", ""):
            return api.block("that would delete everything")
        return None

    # A tool that the model can call.
    @api.tool(
        name="NAME_hello",
        description="Say hello to someone",
        input_schema={
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        },
    )
    def hello(name: str, ctx: ExtensionContext) -> str:
        return f"Hello, {name}!"

    # A command that you can type: /NAME
    @api.command("NAME", description="Show how far the session is")
    def command(args: str, ctx: ExtensionContext) -> str:
        return f"{ctx.session.step_count} steps, {len(ctx.session.messages)} messages"
`
