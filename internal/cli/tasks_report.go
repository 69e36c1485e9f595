package cli

import (
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/tasks"
)

// taskReport is a run of a task in --output json. Its form is a contract: docs/tasks.md.
type taskReport struct {
	Task       string       `json:"task"`
	Status     string       `json:"status"` // ok, failed, cancelled or empty.
	DurationMS int64        `json:"duration_ms"`
	Steps      []stepReport `json:"steps"`
	plain.Report
}

// stepReport is one line of a task.
type stepReport struct {
	Phase      string  `json:"phase"`
	Line       string  `json:"line"`
	Item       string  `json:"item,omitempty"`
	Output     string  `json:"output"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"duration_ms"`
}

func newStepReport(s tasks.Step) stepReport {
	out := stepReport{
		Phase:      s.Phase,
		Line:       s.Line,
		Item:       s.Item,
		Output:     s.Output,
		DurationMS: s.Duration.Milliseconds(),
	}
	if s.Err != nil {
		text := s.Err.Error()
		out.Error = &text
	}
	return out
}

// report keeps the report of a run; while tasks are served it is written at once.
func (r *taskRunner) report(name string, rep taskReport) {
	if r.flags.output != "json" {
		return
	}
	rep.Task = name
	if rep.Steps == nil {
		rep.Steps = []stepReport{}
	}
	if rep.Turns == nil { // No session was opened.
		rep.Turns, rep.ToolCalls, rep.Notices = []plain.TurnReport{}, []plain.CallReport{}, []plain.NoticeReport{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.serving {
		r.reports[name] = rep
		return
	}
	if err := plain.NewEncoder(r.e.out).Encode(rep); err != nil && r.err == nil {
		r.err = err
	}
}

// finish writes the reports in the order of the tasks. Tasks that did not run, because
// the program was interrupted, have none.
func (r *taskRunner) finish(list []tasks.Task) error {
	if r.flags.output != "json" || r.serving {
		return r.err
	}
	out := []taskReport{}
	for _, t := range list {
		if rep, ok := r.reports[t.Name]; ok {
			out = append(out, rep)
		}
	}
	return r.e.printJSON(out)
}
