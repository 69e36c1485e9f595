package provider_test

import (
	"reflect"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

func TestCalls(t *testing.T) {
	b := provider.NewBuilder(nil)
	b.Text("a")
	b.Thinking("b")
	for _, tt := range []struct {
		id, arguments string
		madeUp        bool
		malformed     string
	}{
		{"one", `{"a": 1}`, false, ""},
		{"one", `{"a": 1}`, true, ""},
		{"", ``, true, ""},
		{"two", ` null `, false, ""},
		{"three", `{"a":`, false, `{"a":`},
		{"four", `[]`, false, `[]`},
		{"five", `{"a": 1} {}`, false, `{"a": 1} {}`},
	} {
		id := b.Call(tt.id, "Tool", []byte(tt.arguments))
		if provider.MadeUp(id) != tt.madeUp || !tt.madeUp && id != tt.id {
			t.Errorf("%q: ID %q", tt.id, id)
		}
		r := b.Response("", provider.Usage{})
		last := r.Message.ToolCalls[len(r.Message.ToolCalls)-1]
		if last.ID != id || last.Arguments == nil || r.Malformed[id] != tt.malformed ||
			tt.malformed != "" && len(last.Arguments) != 0 {
			t.Errorf("%q: call %+v, malformed %q", tt.id, last, r.Malformed[id])
		}
		if r.Stop != "tool_calls" || r.Message.Content != "a" || r.Message.Thinking != "b" {
			t.Errorf("response = %+v", r)
		}
	}
}

func TestNote(t *testing.T) {
	m := func(role, kind, text string) message.Message {
		return message.Message{Message: sdk.Message{Role: role, Type: kind, Content: text}}
	}
	injected, user, said := m("assistant", "synthetic", "n"), m("user", "normal", "u"), m("assistant", "normal", "a")
	for _, tt := range []struct {
		name    string
		history []message.Message
		want    []bool
	}{
		{"at the end", []message.Message{user, injected}, []bool{false, true}},
		{"before an answer", []message.Message{user, injected, said}, []bool{false, true, false}},
		{"before the user", []message.Message{said, injected, user}, []bool{false, false, false}},
		{"two", []message.Message{injected, injected}, []bool{true, true}},
		{
			"blank, or of the user", []message.Message{m("assistant", "synthetic", " "), m("user", "synthetic", "x")},
			[]bool{false, false},
		},
	} {
		var got []bool
		for i := range tt.history {
			_, ok := provider.Note(tt.history, i)
			got = append(got, ok)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
