package lifecycle

import (
	"sync"
	"time"
)

// Verdict is how one handler's run ended.
type Verdict string

// The verdicts.
const (
	Passed   Verdict = "passed"  // Ran and changed nothing.
	Spoke    Verdict = "spoke"   // Injected a message or showed a notice.
	Changed  Verdict = "changed" // Changed the data or the course of things.
	Blocked  Verdict = "blocked"
	Asked    Verdict = "asked"   // Wants the user to decide.
	Allowed  Verdict = "allowed" // The user decided so.
	Failed   Verdict = "error"
	Panicked Verdict = "panic"
	TimedOut Verdict = "timeout"
)

// Record is the trace of one handler's run.
type Record struct {
	Time     time.Time     `json:"time"`
	Moment   Moment        `json:"moment"`
	Source   Source        `json:"source"`
	Duration time.Duration `json:"duration"`
	Verdict  Verdict       `json:"verdict"`
	Detail   string        `json:"detail,omitempty"` // What changed, or why not, in words.
	Tool     string        `json:"tool,omitempty"`   // The tool of the call that the moment is about.
	CallID   string        `json:"call_id,omitempty"`
}

// traceSize is how many records a pipeline remembers.
const traceSize = 1024

// trace is a ring of the latest records.
type trace struct {
	mu      sync.Mutex
	records []Record
	next    int
}

// Approval is the source of records that tell what the user decided about a call.
var Approval = Source{Kind: Guard, Name: "approval"}

// Note adds a record of something that is no handler's run.
func (p *Pipeline) Note(r Record) { p.record(r) }

func (t *trace) add(r Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.records) < traceSize {
		t.records = append(t.records, r)
		return
	}
	t.records[t.next] = r
	t.next = (t.next + 1) % traceSize
}

// all returns the records, oldest first.
func (t *trace) all() []Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append([]Record{}, t.records[t.next:]...), t.records[:t.next]...)
}
