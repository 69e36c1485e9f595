package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newModels(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "models [provider]",
		Short:             "List the models of a provider",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: e.flags.offer(configNames(providerNames)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := e.flags.choice.Provider
			if len(args) == 1 {
				name = args[0]
			}
			return listModels(cmd.Context(), e, name, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listModels lists the models of a provider; without a name, of the agent's. Facts that
// are not known are left out.
func listModels(ctx context.Context, e *env, provider string, asJSON bool) error {
	return e.withApp(ctx, func(ctx context.Context, a *app.App) error {
		if provider == "" {
			t, err := a.Target()
			if err != nil {
				return err
			}
			provider = t.Provider.Name
		}
		_, models, err := a.Models().List(ctx, provider)
		if err != nil {
			return err
		}
		if asJSON {
			return e.printJSON(models)
		}
		w := newTable(e.out)
		fmt.Fprintln(w, "NAME\tCONTEXT\tPARAMETERS\tCAPABILITIES")
		for _, m := range models {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Name, shortNumber(int64(m.ContextLength)), shortNumber(m.ParameterCount),
				cmp.Or(strings.Join(m.Capabilities, " "), "-"))
		}
		return w.Flush()
	})
}

// shortNumber shortens a count: 8000000000 is 8.0B.
func shortNumber(n int64) string {
	switch {
	case n <= 0:
		return "-"
	case n >= 1e9:
		return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + "B"
	case n >= 1e6:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	case n >= 1e3:
		return strconv.FormatInt(n/1e3, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}
