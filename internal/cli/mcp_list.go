package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/mcp"
)

func newMCPList(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the servers and their states",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return listServers(cmd.Context(), e, *asJSON) },
	}
}

// listServers lists all servers, those that cannot be reached among them.
func listServers(ctx context.Context, e *env, asJSON bool) error {
	return withServers(ctx, e, nil, nil, func(_ context.Context, a *app.App) error {
		if !asJSON {
			fmt.Fprintln(e.out, a.MCP().Table())
			return nil
		}
		list := a.MCP().Status()
		out := make([]serverJSON, len(list))
		for i, s := range list {
			out[i] = newServerJSON(s)
		}
		return e.printJSON(out)
	})
}

// serverJSON is a server for scripts.
type serverJSON struct {
	Name      string         `json:"name"`
	Type      string         `json:"type"`
	Target    string         `json:"target"`
	File      string         `json:"file"`
	State     mcp.State      `json:"state"`
	Error     string         `json:"error,omitempty"`
	Program   string         `json:"program,omitempty"`
	Protocol  string         `json:"protocol,omitempty"`
	Tools     []mcp.ToolInfo `json:"tools"`
	Skipped   []string       `json:"skipped,omitempty"`
	Prompts   []mcp.Prompt   `json:"prompts,omitempty"`
	Resources []mcp.Resource `json:"resources,omitempty"`
}

func newServerJSON(s mcp.Status) serverJSON {
	return serverJSON{
		Name:      s.Server.Name,
		Type:      s.Server.Type,
		Target:    s.Server.Target(),
		File:      fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line),
		State:     s.State,
		Error:     s.Error,
		Program:   s.Program,
		Protocol:  s.Protocol,
		Tools:     append([]mcp.ToolInfo{}, s.Tools...),
		Skipped:   s.Skipped,
		Prompts:   s.Prompts,
		Resources: s.Resources,
	}
}
