package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/wording"
)

func newList(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [KIND...]",
		Short: "List everything that extends a session: all kinds of extensions",
		Long: `Lists guards, hooks, plugins, Python extensions, skills and MCP servers, by rank: where
two bring a tool or a command of the same name, the earlier one has it. Each line says
where an extension is from, whether it is in force, and what it brings.`,
		Example: `  aura list
  aura list hooks plugins
  aura list --json | jq '.[] | select(.status == "off")'`,
		RunE: func(cmd *cobra.Command, kinds []string) error {
			return e.withApp(cmd.Context(), func(ctx context.Context, a *app.App) error {
				a.Ready(ctx)
				return listKinds(e, a, kinds, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listKinds prints the extensions of the named kinds; of all if none is named.
func listKinds(e *env, a *app.App, kinds []string, asJSON bool) error {
	set := a.Commands().Extensions
	names := set.Kinds()
	for _, k := range kinds {
		if !slices.Contains(names, k) {
			return &usageError{fmt.Errorf("list: no kind %q%s", k, wording.Hint(k, "kinds", names))}
		}
	}
	items := set.Items(kinds...)
	if asJSON {
		return e.printJSON(items)
	}
	w := newTable(e.out)
	fmt.Fprintln(w, "KIND\tNAME\tSTATUS\tFROM\tBRINGS\tPATH")
	for _, x := range items {
		what := brings(x.Moments, x.Tools, x.Commands, x.Problem)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", x.Kind, x.Name, x.Status, x.Origin, what, x.Path)
	}
	return w.Flush()
}

// brings says in a few words what an extension adds.
func brings(moments, tools, commands []string, problem string) string {
	var parts []string
	for _, p := range []struct {
		list []string
		what string
	}{{moments, "handler"}, {tools, "tool"}, {commands, "command"}} {
		if n := len(p.list); n > 0 {
			parts = append(parts, wording.Count(n, p.what))
		}
	}
	if problem != "" {
		parts = append(parts, wording.Line(problem, 80))
	}
	return strings.Join(parts, ", ")
}
