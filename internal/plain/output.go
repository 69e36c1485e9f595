package plain

import (
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/agent"
)

// Output shows what happens during a run. Observe is for agent.Options.Observe;
// calls must not overlap.
type Output interface {
	Observe(agent.Event)
	// Finish tells how the run ended and writes what is left. It returns the first
	// error of the streams, such as a reader that went away.
	Finish(Outcome) error
}

// Outcome is how a run ended.
type Outcome struct {
	SessionID string // Empty if the session is not kept.
	Agent     string
	Model     string
	Err       error // nil if everything went well.
}

// Formats are the values of --output, the default first.
func Formats() []string { return []string{"text", "json", "stream-json"} }

// NewOutput makes the output of a format; an empty one means text.
func NewOutput(format string, o PrinterOptions) (Output, error) {
	switch format {
	case "", "text":
		return NewPrinter(o), nil
	case "json":
		return NewJSON(o.Out), nil
	case "stream-json":
		return NewStream(o.Out), nil
	}
	return nil, fmt.Errorf("output: %q is not one of %s", format, strings.Join(Formats(), ", "))
}
