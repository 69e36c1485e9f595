package commands

import (
	"context"
	"errors"
	"strings"
)

const mcpDetails = `/mcp lists the MCP servers, their state and how many tools, prompts and resources
they have. /mcp NAME shows one of them. /mcp reconnect NAME connects it anew. Prompts of
servers are commands of their own, such as /mcp__notes__summary.`

func manageMCP(ctx context.Context, s *Session, args string) error {
	verb, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch {
	case args == "" || args == "list":
		s.Print(s.MCP.Table())
		return nil
	case verb == "reconnect" && name != "":
		if err := s.MCP.Reconnect(ctx, name); err != nil {
			return err
		}
		s.Print("connected")
		return s.Agent.Reload()
	case name != "":
		return errors.New("usage: /mcp [NAME | reconnect NAME]")
	}
	text, err := s.MCP.Describe(ctx, verb)
	if err != nil {
		return err
	}
	s.Print(text)
	return nil
}
