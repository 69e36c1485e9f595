package plugin_test

import (
	"encoding/json"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
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
		lifecycle.BeforeToolExecution: &sdk.BeforeToolContext{Context: snapshot, Arguments: map[string]any{"command": "ls", "list": []any{"x"}}},
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
