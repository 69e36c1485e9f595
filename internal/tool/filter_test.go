package tool

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"Bash", "Bash", true},
		{"Bash", "bash", false},
		{"*", "", true},
		{"", "", true},
		{"", "x", false},
		{"mcp__*", "mcp__a__b", true},
		{"mcp__*", "mcp_", false},
		{"*List", "TodoList", true},
		{"Todo*", "TodoList", true},
		{"T*o*t", "TodoList", true},
		{"T*x*t", "TodoList", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"*b*b", "ab", false},
		{"**", "x", true},
		{"[a]?", "[a]?", true},
		{"[a]?", "ab", false},
	}
	for _, tt := range tests {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

// TL-40 TL-41 TL-43: filters and opt-in.
func TestAvailable(t *testing.T) {
	tools := []Tool{{Name: "Bash"}, {Name: "Read"}, {Name: "Write"}, {Name: "Gotify", OptIn: true}, {Name: "Mkdir"}}
	tests := []struct {
		name   string
		layers []Filter
		optIn  []string
		want   string
	}{
		{"no layers", nil, nil, "Bash Read Write Mkdir"},
		{"enabled", []Filter{{Enabled: []string{"Read", "Wri*"}}}, nil, "Read Write"},
		{"disabled wins", []Filter{{Enabled: []string{"*"}, Disabled: []string{"Bash"}}}, nil, "Read Write Mkdir"},
		{
			"every layer must allow",
			[]Filter{{Enabled: []string{"Read", "Bash"}}, {Disabled: []string{"Bash"}}, {}},
			nil,
			"Read",
		},
		{"a later layer cannot widen", []Filter{{Disabled: []string{"Bash"}}, {Enabled: []string{"Bash"}}}, nil, ""},
		{"star does not reveal", []Filter{{Enabled: []string{"*"}}}, nil, "Bash Read Write Mkdir"},
		{"name reveals", []Filter{{Enabled: []string{"*", "Gotify"}}}, nil, "Bash Read Write Gotify Mkdir"},
		{"narrow glob reveals", []Filter{{}, {Enabled: []string{"*", "Got*"}}}, nil, "Bash Read Write Gotify Mkdir"},
		{
			"any layer reveals, others allow",
			[]Filter{{Enabled: []string{"*"}}, {Enabled: []string{"Gotify"}}},
			nil,
			"Gotify",
		},
		{"named but disabled", []Filter{{Enabled: []string{"Gotify"}, Disabled: []string{"Got*"}}}, nil, ""},
		{"opt-in by configuration", nil, []string{"Mk*", "Bash"}, "Read Write"},
		{"opt-in by configuration, named", []Filter{{Enabled: []string{"Mkdir"}}}, []string{"Mkdir"}, "Mkdir"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, tool := range Available(tools, tt.layers, tt.optIn...) {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
