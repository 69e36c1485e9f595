package plugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// SD-70: whatever a plugin does to the maps and slices it is handed, the host's own
// are not touched.
func TestMutatingPlugin(t *testing.T) {
	s := one(t, "description: d", "", `
func BeforeToolExecution(_ context.Context, c sdk.BeforeToolContext) (sdk.BeforeToolResult, error) {
	c.Arguments["command"] = "changed"
	c.Arguments["list"].([]any)[0] = "changed"
	c.PatchCounts["a"] = 9
	c.Turns[0].Content = "changed"
	c.ToolHistory[0].Args["k"] = "changed"
	c.Vars["v"] = "changed"
	c.AvailableTools[0] = "changed"
	c.Stats.TopTools[0].Name = "changed"
	c.ModelInfo.Capabilities[0] = "changed"
	return sdk.BeforeToolResult{}, nil
}

func TransformMessages(_ context.Context, c sdk.TransformContext) ([]sdk.Message, error) {
	c.Messages[0].Content = "changed"
	c.Messages[0].ToolCalls[0].Arguments["k"] = "changed"
	return nil, nil
}`)
	snapshot := sdk.Context{
		PatchCounts:    map[string]int{"a": 1},
		Turns:          []sdk.Turn{{Content: "t"}},
		Vars:           map[string]string{"v": "x"},
		ToolHistory:    []sdk.ToolCall{{Args: map[string]any{"k": "v"}}},
		AvailableTools: []string{"Bash"},
		Stats: sdk.Stats{
			TopTools: []sdk.ToolCount{{Name: "Bash"}},
		},
		ModelInfo: sdk.ModelInfo{Capabilities: []string{"tools"}},
	}
	for moment, data := range map[lifecycle.Moment]any{
		lifecycle.BeforeToolExecution: &sdk.BeforeToolContext{Context: snapshot,
			Arguments: map[string]any{"command": "ls", "list": []any{"x"}}},
		lifecycle.TransformMessages: &sdk.TransformContext{Context: snapshot, Messages: []sdk.Message{{
			Content: "m", ToolCalls: []sdk.MessageToolCall{{Arguments: map[string]any{"k": "v"}}},
		}}},
	} {
		before, _ := json.Marshal(data)
		if out := dispatch(t, s, moment, data); len(out.Notices) > 0 {
			t.Fatalf("%s: %v", moment, out.Notices)
		}
		if after, _ := json.Marshal(data); string(after) != string(before) {
			t.Errorf("%s: the host's data changed:\n%s\n%s", moment, before, after)
		}
	}
}

// SD-70: nor what a decoder finds there, although the source does not name it.
func TestDecodingPlugin(t *testing.T) {
	s := one(t, "", "encoding/json", `
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	text := []byte("{\"vars\":{\"v\":\"changed\"},\"available_tools\":[\"changed\"]}")
	return sdk.Result{}, json.Unmarshal(text, &c.Context)
}`)
	snapshot := sdk.Context{Vars: map[string]string{"v": "x"}, AvailableTools: []string{"Bash"}}
	if out := dispatch(t, s, lifecycle.BeforeChat, &sdk.BeforeChatContext{Context: snapshot}); len(out.Notices) > 0 {
		t.Fatal(out.Notices)
	}
	if snapshot.Vars["v"] != "x" || snapshot.AvailableTools[0] != "Bash" {
		t.Errorf("the host's data changed: %v, %v", snapshot.Vars, snapshot.AvailableTools)
	}
}

// SD-70: nor by whatever way a plugin gets there.
func TestIndirectMutation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ imports, declarations, body string }{
		"conversion": {"", "type mine sdk.Context", `m := mine(c.Context); m.Turns[0].Content = "changed"`},
		"alias":      {"", "type mine = sdk.Context", `var m mine = c.Context; m.Turns[0].Content = "changed"`},
		"embedded": {"", "type mine struct{ sdk.Context }",
			`m := mine{c.Context}; m.Turns[0].Content = "changed"`},
		"field": {"", "type mine struct{ inner sdk.BeforeChatContext }",
			`m := mine{inner: c}; m.inner.Turns[0].Content = "changed"`},
		"function":       {"", `func change(x sdk.Context) { x.Turns[0].Content = "changed" }`, `change(c.Context)`},
		"pointer":        {"", `func change(x *sdk.Context) { x.Turns[0].Content = "changed" }`, `change(&c.Context)`},
		"pointer to it":  {"", "", `turns := &c.Turns; (*turns)[0].Content = "changed"`},
		"pointer within": {"", "", `turn := &c.Turns[0]; turn.Content = "changed"`},
		"closure":        {"", "", `func() { c.Turns[0].Content = "changed" }()`},
		"variable":       {"", "var kept sdk.BeforeChatContext", `kept = c; kept.Turns[0].Content = "changed"`},
		"any":            {"", "", `var x any = c; x.(sdk.BeforeChatContext).Turns[0].Content = "changed"`},
		"map of them":    {"", "", `m := map[string]sdk.Context{"c": c.Context}; m["c"].Turns[0].Content = "changed"`},
		"append":         {"", "", `_ = append(c.Turns[:0], sdk.Turn{Content: "changed"})`},
		"sort":           {"sort", "", `sort.Slice(c.Turns, func(i, j int) bool { return i < j }); c.Turns[0] = sdk.Turn{}`},
		"dot":            {"", "", `if err := Unmarshal([]byte("{\"turns\":[{\"content\":\"changed\"}]}"), &c.Context); err != nil { panic(err) }`},
		"decoder": {"encoding/json strings", "", `d := json.NewDecoder(strings.NewReader("{\"turns\":[{\"content\":\"changed\"}]}"))
	if err := d.Decode(&c.Context); err != nil { panic(err) }`},
		"reflect": {"reflect", "", `reflect.ValueOf(&c).Elem().FieldByName("Tu"+"rns").Index(0).FieldByName("Content").SetString("changed")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "probe", "", tt.imports, tt.declarations+"\n\n"+hook(lifecycle.BeforeChat, "\t"+tt.body))
			if name == "dot" {
				text, err := os.ReadFile(filepath.Join(dir, "probe", "main.go"))
				if err != nil {
					t.Fatal(err)
				}
				with := strings.Replace(string(text), "import ", "import . \"encoding/json\"\nimport ", 1)
				writeFiles(t, filepath.Join(dir, "probe"), map[string]string{"main.go": with})
			}
			s := load(t, plugin.Options{Dirs: []string{dir}})
			turns := []sdk.Turn{{Content: "t"}}
			data := &sdk.BeforeChatContext{Context: sdk.Context{Turns: turns}}
			if out := dispatch(t, s, lifecycle.BeforeChat, data); len(out.Notices) > 0 {
				t.Fatal(out.Notices)
			}
			if turns[0].Content != "t" {
				t.Error("the host's data changed")
			}
		})
	}
}
