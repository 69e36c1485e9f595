package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/wording"
)

const mcpDetails = `/mcp lists the MCP servers, their state and how many tools, prompts and resources
they have. /mcp NAME shows one of them. /mcp reconnect NAME connects it anew. Prompts of
servers are commands of their own, such as /mcp__notes__summary.`

func manageMCP(ctx context.Context, s *Session, args string) error {
	hub := s.MCP
	if hub == nil {
		hub = mcp.New(nil, mcp.Options{})
	}
	verb, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch {
	case args == "" || args == "list":
		s.Print(MCPList(hub.Status()))
		return nil
	case verb == "reconnect" && name != "":
		if err := hub.Reconnect(ctx, name); err != nil {
			return err
		}
		s.Print("connected")
		return s.Agent.Reload()
	case name != "":
		return errors.New("usage: /mcp [NAME | reconnect NAME]")
	}
	status, err := hub.Inspect(ctx, verb)
	if err != nil {
		return err
	}
	s.Print(MCPDetails(status))
	return nil
}

// MCPList is a table of servers.
func MCPList(list []mcp.Status) string {
	if len(list) == 0 {
		return "there are no MCP servers (describe one in .aura/config/mcp)"
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		rows[i] = []string{s.Server.Name, s.Server.Type, string(s.State), mcpCounts(s)}
	}
	return columns("", rows)
}

func mcpCounts(s mcp.Status) string {
	if s.Error != "" {
		return clip(s.Error, 200)
	}
	if s.State != mcp.Connected {
		return clip(s.Server.Target(), 80)
	}
	text := wording.Count(len(s.Tools), "tool")
	if len(s.Prompts) > 0 {
		text += ", " + wording.Count(len(s.Prompts), "prompt")
	}
	if s.Server.Deferred {
		text += ", deferred"
	}
	if len(s.Skipped) > 0 {
		text += fmt.Sprintf(", %d left out", len(s.Skipped))
	}
	return text
}

// MCPDetails is all about one server.
func MCPDetails(s mcp.Status) string {
	rows := [][]string{
		{"server", s.Server.Name}, {"state", string(s.State)}, {"type", s.Server.Type}, {"target", s.Server.Target()},
		{"file", fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line)},
	}
	for _, row := range [][]string{
		{"error", s.Error}, {"program", s.Program}, {"protocol", s.Protocol}, {"condition", s.Server.Condition},
		{"instructions", clip(s.Instructions, 500)},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	text := columns("", rows)
	section := func(title string, rows [][]string) {
		if len(rows) > 0 {
			text += "\n\n" + title + "\n" + columns("  ", rows)
		}
	}
	var tools, prompts, resources, skipped [][]string
	for _, t := range s.Tools {
		tools = append(tools, []string{t.Name, clip(t.Description, 80)})
	}
	for _, p := range s.Prompts {
		name := "/" + p.Name
		for _, a := range p.Arguments {
			if a.Required {
				name += " <" + a.Name + ">"
			} else {
				name += " [" + a.Name + "]"
			}
		}
		prompts = append(prompts, []string{name, clip(p.Description, 80)})
	}
	for _, r := range s.Resources {
		resources = append(resources, []string{clip(r.URI, 80), clip(r.Name+" "+r.Description, 80)})
	}
	for _, x := range s.Skipped {
		skipped = append(skipped, []string{x})
	}
	section("Tools", tools)
	section("Prompts", prompts)
	section("Resources", resources)
	section("Left out", skipped)
	return text
}
