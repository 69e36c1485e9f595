package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/tasks"
)

// taskView shows one run. If several run side by side, its output is held back until the
// end.
type taskView struct {
	out     plain.Output
	printer *plain.Printer // nil for JSON.
	err     io.Writer

	held    [2]bytes.Buffer // Output and error output.
	holding bool
	json    bytes.Buffer
}

func (r *taskRunner) newView() *taskView {
	v := &taskView{err: r.e.err, holding: r.flags.concurrency > 1}
	if r.flags.output == "json" {
		v.out = plain.NewJSON(&v.json)
		return v
	}
	o := plain.PrinterOptions{Out: r.e.out, Err: r.e.err, Verbose: r.e.flags.verbose}
	if v.holding {
		o.Out, o.Err, v.err = &v.held[0], &v.held[1], &v.held[1]
	}
	v.printer = plain.NewPrinter(o)
	v.out = v.printer
	return v
}

// print shows the output of a slash command.
func (v *taskView) print(text string) {
	if v.printer != nil {
		v.printer.Print(strings.TrimRight(text, "\n"))
	}
}

// begin shows which line runs.
func (v *taskView) begin(s tasks.Step) {
	if v.printer == nil {
		return
	}
	where := fmt.Sprintf("%d/%d", s.Number, s.Of)
	if s.Phase != "commands" {
		where = s.Phase + " " + where
	}
	if s.Index > 0 {
		where = fmt.Sprintf("item %d/%d %s, %s", s.Index, s.Total, s.Item, where)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Line), "\n")
	if r := []rune(line); len(r) > 100 {
		line = string(r[:100]) + "..."
	}
	v.printer.Note(printable("[" + where + "] " + line))
}

// end shows what a shell line printed; answers and commands have been shown.
func (v *taskView) end(s tasks.Step) {
	if strings.HasPrefix(s.Line, "!") && s.Output != "" {
		v.print(s.Output)
	}
}

// finish completes the view and the report.
func (v *taskView) finish(o plain.Outcome, r *taskReport) error {
	err := v.out.Finish(o)
	if v.printer == nil && err == nil {
		err = json.Unmarshal(v.json.Bytes(), &r.Report)
	}
	return err
}

// flush writes what was held back.
func (v *taskView) flush(r *taskRunner) {
	if !v.holding {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.e.err.Write(v.held[1].Bytes())
	if err == nil {
		_, err = r.e.out.Write(v.held[0].Bytes())
	}
	if err != nil && r.err == nil {
		r.err = err
	}
}
