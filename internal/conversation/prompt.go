package conversation

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/idelchi/aura/internal/templates"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// Prompt is the text from which the system prompt is made. All parts are Go
// templates over PromptData.
type Prompt struct {
	Agent        string // Body of the agent's file.
	Mode         string // Body of the mode's file.
	System       string // A named system prompt, which includes the others; empty composes them in order.
	Files        string // Contents of files the agent names, verbatim.
	Instructions string // Instructions found in the workspace, verbatim.
	ReadBefore   ReadBeforeData
	Policy       string // Tool policy in words.
	Origins      PromptOrigins
}

// PromptOrigins are the files of the parts, for errors.
type PromptOrigins struct{ Agent, Mode, System Origin }

// Origin is where a template was written. The zero value is nowhere.
type Origin struct {
	File string
	Line int // Of the first line of the template.
}

// PromptData is what prompt templates can use.
type PromptData struct {
	Agent    string
	Mode     struct{ Name string }
	Provider string
	Model    sdk.ModelInfo
	Vars     map[string]string
	Tools    struct {
		Eager    []string // Names.
		Deferred string   // Names and descriptions of what can be loaded.
	}
	WorkDir    string
	LaunchDir  string
	Hooks      HookData
	Sandbox    SandboxState
	ReadBefore ReadBeforeData
	ToolPolicy struct{ Display string }
}

// HookData tells prompts about the shell hooks that are active.
type HookData struct {
	Active  []HookInfo
	Display string // One line for each.
	Listing string // For people: all fields, and the hooks that are disabled.
}

// HookInfo describes one active shell hook.
type HookInfo struct{ Name, Description, Event, Matcher, Files, Command string }

// SandboxState tells whether tools are confined. Enabled is what was asked for,
// Enforced what the kernel does.
type SandboxState struct {
	Enabled  bool
	Enforced bool
	Display  string
}

// ReadBeforeData tells which operations need the file to be read first.
type ReadBeforeData struct{ Write, Delete bool }

// SetTools tells prompts about the tools that are offered and that can be loaded.
func (d *PromptData) SetTools(list []Tool, done bool) {
	d.Tools.Eager, d.Tools.Deferred = nil, ""
	for _, t := range list {
		switch {
		case t.Deferred:
			d.Tools.Deferred += "- " + t.Name + ": " + t.Summary + "\n"
		case t.Name != DoneTool || done:
			d.Tools.Eager = append(d.Tools.Eager, t.Name)
		}
	}
}

// Render composes the parts: agent, files, workspace instructions, mode; or the
// named system prompt, which places them itself.
func (p *Prompt) Render(data PromptData) (string, error) {
	agent, err := expand(p.Origins.Agent, "agent", p.Agent, nil, data)
	if err != nil {
		return "", err
	}
	mode, err := expand(p.Origins.Mode, "mode", p.Mode, nil, data)
	if err != nil {
		return "", err
	}
	if p.System == "" {
		if data.Mode.Name != "" {
			mode = "## Active Mode: " + data.Mode.Name + "\n\n" + mode
		}
		return Join(agent, p.Files, p.Instructions, mode), nil
	}
	return expand(p.Origins.System, "system", p.System, map[string]string{
		"agent": agent, "mode": mode, "files": p.Files, "instructions": p.Instructions,
	}, data)
}

// expand executes a template; parts are texts it can include by name.
func expand(from Origin, name, text string, parts map[string]string, data PromptData) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, err := templates.New(name).Parse(text)
	if err != nil {
		return "", from.explain(name, data.Agent, err)
	}
	for part := range parts {
		// The parts are finished text: whatever looks like a template in them is not one.
		if _, err := t.New(part).Parse("{{ index .Parts `" + part + "` }}"); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	err = t.Execute(&b, struct {
		PromptData
		Parts map[string]string
	}{data, parts})
	if err != nil {
		return "", from.explain(name, data.Agent, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// explain says where and what is wrong with a template in the words of the user who
// wrote it, who knows nothing of our types.
func (o Origin) explain(name, agent string, err error) error {
	line, rest := templates.Mistake(name, err)
	if _, after, ok := strings.Cut(rest, " executing "); ok {
		if _, after, ok = strings.Cut(after, " at <"); ok {
			rest = "{{" + strings.Replace(after, ">: ", "}}: ", 1)
		}
	}
	if before, after, ok := strings.Cut(rest, "can't evaluate field "); ok {
		field, _, _ := strings.Cut(after, " ")
		rest = fmt.Sprintf("%sthere is no %q here", before, field)
		if near := wording.Closest(field, fields(reflect.TypeFor[PromptData]())); near != "" && near != field {
			rest += fmt.Sprintf(" (did you mean %q?)", near)
		}
	}
	if before, _, ok := strings.Cut(rest, "wrong type for value;"); ok {
		rest = before + "the value is of another kind than the function takes"
	}
	where := fmt.Sprintf("%s prompt of agent %s, line %d", name, agent, line)
	if o.File != "" {
		where = fmt.Sprintf("%s:%d", o.File, o.Line+line-1)
	}
	return fmt.Errorf("%s: template: %s", where, strings.TrimSpace(rest))
}

// fields are the names of the fields of a struct and of the structs in it.
func fields(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		names = append(names, f.Name)
		if f.Type.Kind() == reflect.Struct {
			names = append(names, fields(f.Type)...)
		}
	}
	return names
}

// Join puts the parts of a prompt that are not empty under each other.
func Join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}
