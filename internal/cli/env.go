package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"text/tabwriter"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/plain"
)

// env is what every command is given: the standard streams and the flags of the root.
type env struct {
	program string // The name under which the program was called: aura or aar.
	in      *os.File
	out     *os.File
	err     *os.File
	flags   rootFlags

	ended atomic.Pointer[endedError] // Why the program was asked to end; nil while it was not.
}

// warn tells the user something that does not stop the program.
func (e *env) warn(text string) { fmt.Fprintf(e.err, "! %s\n", text) }

// warnAll warns of everything in a list.
func (e *env) warnAll(notices []string) {
	for _, n := range notices {
		e.warn(n)
	}
}

// printJSON prints v for scripts.
func (e *env) printJSON(v any) error {
	enc := plain.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// withApp opens a session for its parts only: no model is called. The context of do ends
// when the user interrupts.
func (e *env) withApp(ctx context.Context, do func(context.Context, *app.App) error) error {
	ctx, stop := e.interruptible(ctx)
	defer stop()
	a, err := app.Open(ctx, e.flags.lookup(), app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	return do(ctx, a)
}

// newTable aligns the columns of lines whose cells end with a tab. It must be flushed.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }
