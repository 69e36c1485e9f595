package sdk_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/idelchi/aura/sdk"
)

// full is a snapshot with every field set.
func full() sdk.Context {
	return sdk.Context{
		Iteration: 3,
		Tokens:    sdk.TokenState{Estimate: 1200, LastAPI: 1100, Percent: 12.5, Max: 9600},
		Agent:     "coder",
		Mode:      "plan",
		ModelInfo: sdk.ModelInfo{
			Name:           "llama3:8b",
			Family:         "llama",
			ParameterCount: 8_000_000_000,
			ContextLength:  8192,
			Capabilities:   []string{"tools", "vision"},
		},
		Stats: sdk.Stats{
			StartTime: time.Date(
				2026,
				1,
				2,
				3,
				4,
				5,
				678_901_234,
				time.UTC,
			),
			Duration:     90*time.Second + 7*time.Nanosecond,
			Interactions: 1,
			Turns:        2,
			Iterations:   3,
			ToolCalls:    4,
			ToolErrors:   5,
			ParseRetries: 6,
			Compactions:  7,
			TokensIn:     8,
			TokensOut:    9,
			TopTools:     []sdk.ToolCount{{Name: "Read", Count: 3}},
		},
		Workdir:              "/w",
		MessageCount:         10,
		Auto:                 true,
		DoneActive:           true,
		ResponseEmpty:        true,
		ResponseContentEmpty: true,
		HasToolCalls:         true,
		MaxSteps:             50,
		TodoPending:          1,
		TodoInProgress:       2,
		TodoTotal:            3,
		PatchCounts:          map[string]int{"a.go": 2},
		ToolHistory: []sdk.ToolCall{{
			Name: "Read", Args: map[string]any{"path": "a", "deep": map[string]any{"list": []any{"x", 1.5, true, nil}}},
			ArgsJSON: `{"path":"a"}`, Result: "r\n\u2028<&>", Error: "e", Duration: 1500 * time.Microsecond,
		}},
		SessionID:    "id",
		SessionTitle: "title",
		Provider:     "local",
		ThinkMode:    "high",
		Features: sdk.FeatureState{
			Sandbox:           true,
			ReadBeforeWrite:   true,
			ShowThinking:      true,
			CompactionEnabled: true,
		},
		AvailableTools: []string{
			"Read",
		},
		LoadedTools:  []string{"Web"},
		Turns:        []sdk.Turn{{Role: "user", Content: "hi"}},
		SystemPrompt: "be good",
		MCPServers:   []string{"files"},
		Vars:         map[string]string{"A": "b"},
		PluginConfig: map[string]any{"deep": map[string]any{"list": []any{"x"}, "on": true}},
	}
}

// A snapshot survives JSON, which carries it into sandboxed children. SD-68
func TestContextRoundTrip(t *testing.T) {
	t.Parallel()
	want := full()
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s empty", v.Type().Field(i).Name)
		}
	}
	for name, c := range map[string]sdk.Context{"full": want, "zero": {}} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got sdk.Context
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, c) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, c)
		}
	}
}

// The snapshot lies flat beside the fields of a timing, and the timing's own
// field wins where both have one.
func TestEmbeddedContextIsFlat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value any
		want  map[string]any
	}{
		{sdk.BeforeToolContext{Context: full(), ToolName: "Bash", Arguments: map[string]any{"command": "ls"}},
			map[string]any{"agent": "coder", "tool_name": "Bash", "arguments": map[string]any{"command": "ls"}}},
		{sdk.BeforeCompactionContext{Context: full(), MessageCount: 77, KeepLast: 10},
			map[string]any{"message_count": 77.0, "keep_last": 10.0, "iteration": 3.0}},
		{sdk.BeforeToolResult{Result: sdk.Result{Message: "no"}, Block: true},
			map[string]any{"message": "no", "block": true}},
		{sdk.Result{}, map[string]any{}},
	} {
		data, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		for key, want := range tt.want {
			if !reflect.DeepEqual(got[key], want) {
				t.Errorf("%T: %s is %v, want %v", tt.value, key, got[key], want)
			}
		}
		if _, nested := got["Context"]; nested {
			t.Errorf("%T: the snapshot is nested", tt.value)
		}
		if len(tt.want) == 0 && len(got) != 0 {
			t.Errorf("%T: zero value is %s, want {}", tt.value, data)
		}
	}
}
