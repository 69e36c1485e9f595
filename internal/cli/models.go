package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/sdk"
)

func newModels(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "models [provider]",
		Short: "List the models of a provider",
		Args:  arguments(cobra.MaximumNArgs(1)),

		ValidArgsFunction: e.offer(e.named(providerNames)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := e.interruptible(cmd.Context())
			defer stop()
			a, err := app.Read(e.flags.lookup())
			if err != nil {
				return err
			}
			name := e.flags.choice.Provider
			if len(args) == 1 {
				name = args[0]
			}
			if name == "" {
				t, err := a.Target()
				if err != nil {
					return err
				}
				name = t.Provider.Name
			}
			_, models, err := a.Models().List(ctx, name)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(models)
			}
			return e.printModels(models)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printModels prints a table; facts that are not known are left out.
func (e *env) printModels(models []sdk.ModelInfo) error {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCONTEXT\tPARAMETERS\tCAPABILITIES")
	for _, m := range models {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Name, number(int64(m.ContextLength)), number(m.ParameterCount),
			cmp.Or(strings.Join(m.Capabilities, " "), "-"))
	}
	return w.Flush()
}

// number shortens a count: 8000000000 is 8.0B.
func number(n int64) string {
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
