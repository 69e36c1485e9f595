package conversation

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	data := PromptData{Agent: "main", WorkDir: "/w", Vars: map[string]string{"A": "b"}}
	data.SetTools([]Tool{{Name: "Read"}, {Name: "Done"}, {Name: "Rare", Summary: "Does it.", Deferred: true}}, false)
	inMode := data
	inMode.Mode.Name = "plan"
	for _, c := range []struct {
		name string
		p    Prompt
		data PromptData
		want string
	}{
		{"nothing", Prompt{}, data, ""},
		{"in order", Prompt{Agent: "a\n", Files: "f", Instructions: "i"}, data, "a\n\nf\n\ni"},
		{"with a mode", Prompt{Agent: "a", Mode: "m {{ .WorkDir }}"}, inMode, "a\n\n## Active Mode: plan\n\nm /w"},
		{"named", Prompt{
			Agent: "I am {{ .Agent }}.", Files: "{{ no }}", System: `x {{ template "agent" . }} {{ template "files" . }}`,
		}, data, "x I am main. {{ no }}"},
		{"data", Prompt{Agent: `{{ index .Vars "A" }} {{ join .Tools.Eager "," }} {{ .Tools.Deferred }}`}, data,
			"b Read - Rare: Does it."},
	} {
		if got, err := c.p.Render(c.data); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if data.SetTools([]Tool{{Name: "Done"}}, true); len(data.Tools.Eager) != 1 {
		t.Errorf("tools %v", data.Tools)
	}
}

// A mistake in a template is told in the words of the user who wrote it.
func TestRenderErrors(t *testing.T) {
	for _, c := range []struct {
		p    Prompt
		want string
	}{
		{
			Prompt{Agent: "a\n{{ .Nothing }}"},
			`agent prompt of agent main, line 2: template: {{.Nothing}}: there is no "Nothing" here`,
		},
		{Prompt{Agent: "{{ .Workdir }}"}, `there is no "Workdir" here (did you mean "WorkDir"?)`},
		{Prompt{Mode: "{{ if }}"}, "mode prompt of agent main, line 1: template: "},
		{
			Prompt{Mode: "x\n{{ .No }}", Origins: PromptOrigins{Mode: Origin{"modes/m.md", 7}}},
			"modes/m.md:8: template: ",
		},
		{Prompt{Agent: "{{ lower .Tools }}"}, "the value is of another kind than the function takes"},
		{Prompt{System: `{{ template "nobody" }}`}, `system prompt of agent main, line 1: template: `},
	} {
		_, err := c.p.Render(PromptData{Agent: "main"})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "conversation.") {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}
