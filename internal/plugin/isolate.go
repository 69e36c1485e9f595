package plugin

import (
	"maps"
	"slices"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// copies says which parts of a snapshot a plugin gets copies of. What its source
// never names it cannot change, and shares: copying the history of a long session
// for every call of every plugin would be most of the cost of having plugins.
type copies struct {
	capabilities, topTools, patches, history, available, loaded, turns, servers, vars, config bool

	calls, arguments, messages bool
}

// copiesFor finds out what the source names. Code that reflects can reach what it
// does not name, and so can a decoder, which fills the maps and slices that are there.
func copiesFor(s *source) copies {
	uses := func(pkg string) bool { return slices.Contains(s.std, pkg) }
	decodes := s.mentions("Unmarshal") || s.mentions("Decode")
	all := uses("reflect") || decodes && (uses("encoding/json") || uses("encoding/gob") || uses("encoding/xml"))
	has := func(field string) bool { return all || s.mentions(field) }
	return copies{
		capabilities: has(
			"Capabilities",
		),
		topTools:  has("TopTools"),
		patches:   has("PatchCounts"),
		history:   has("ToolHistory"),
		available: has("AvailableTools"),
		loaded:    has("LoadedTools"),
		turns:     has("Turns"),
		servers:   has("MCPServers"),
		vars:      has("Vars"),
		config:    has("PluginConfig"),
		calls:     has("Calls"),
		arguments: has("Arguments"),
		messages:  has("Messages"),
	}
}

// isolate prepares data, a pointer to the plugin's own copy of a moment's context,
// for the plugin: with its config values, and sharing nothing it might change.
func (p *plugin) isolate(data any) {
	ev := lifecycle.Event{Data: data}
	p.isolateContext(ev.Context())
	switch d := data.(type) {
	case *sdk.AfterResponseContext:
		if p.copies.calls {
			d.Calls = cloneCalls(d.Calls)
		}
	case *sdk.BeforeToolContext:
		if p.copies.arguments {
			d.Arguments = tool.CloneArgs(d.Arguments)
		}
	case *sdk.AfterToolContext:
		if p.copies.arguments {
			d.Arguments = tool.CloneArgs(d.Arguments)
		}
	case *sdk.TransformContext:
		if p.copies.messages {
			d.Messages = cloneMessages(d.Messages)
		}
	}
}

// isolateContext does it for the snapshot.
func (p *plugin) isolateContext(c *sdk.Context) {
	c.PluginConfig = p.config
	n := p.copies
	if n.config {
		c.PluginConfig = tool.CloneArgs(p.config)
	}
	if n.capabilities {
		c.ModelInfo.Capabilities = slices.Clone(c.ModelInfo.Capabilities)
	}
	if n.topTools {
		c.Stats.TopTools = slices.Clone(c.Stats.TopTools)
	}
	if n.patches {
		c.PatchCounts = maps.Clone(c.PatchCounts)
	}
	if n.history {
		c.ToolHistory = cloneCalls(c.ToolHistory)
	}
	if n.available {
		c.AvailableTools = slices.Clone(c.AvailableTools)
	}
	if n.loaded {
		c.LoadedTools = slices.Clone(c.LoadedTools)
	}
	if n.turns {
		c.Turns = slices.Clone(c.Turns)
	}
	if n.servers {
		c.MCPServers = slices.Clone(c.MCPServers)
	}
	if n.vars {
		c.Vars = maps.Clone(c.Vars)
	}
}

func cloneCalls(calls []sdk.ToolCall) []sdk.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		out[i].Args = tool.CloneArgs(out[i].Args)
	}
	return out
}

func cloneMessages(msgs []sdk.Message) []sdk.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].ToolCalls = slices.Clone(out[i].ToolCalls)
		for j := range out[i].ToolCalls {
			out[i].ToolCalls[j].Arguments = tool.CloneArgs(out[i].ToolCalls[j].Arguments)
		}
	}
	return out
}
