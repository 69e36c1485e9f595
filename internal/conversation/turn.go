package conversation

import (
	"maps"
	"slices"
	"sync"

	"github.com/idelchi/aura/sdk"
)

// Turn is the state of one turn of the user: what the snapshot tells about it, and
// whether it still runs.
type Turn struct {
	mu        sync.Mutex
	iteration int  // Model calls; 0 outside a turn.
	finished  bool // The Done tool was called, or the loop has ended by itself.
	patches   map[string]int
	calls     []sdk.ToolCall // A prefix handed out is never changed.
	response  Response
	results   results
}

// Response is what is known about the latest response of the model. The zero value is
// that of a turn without one.
type Response struct {
	Textless bool // It has no text.
	Calls    bool // It has tool calls.
	Cut      bool // It ended at the output limit.
}

// results are the results of one response that have not entered the history yet.
type results struct {
	taken int // Rough tokens of those that are finished.
	open  int // Calls that are not.
}

// Begin begins a turn.
func (t *Turn) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.iteration, t.finished = 0, false
	t.patches, t.calls = map[string]int{}, nil
	t.response, t.results = Response{}, results{}
}

// End ends the turn. What was done in it can be seen until the next one begins.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.iteration = 0
}

// Next counts a model call.
func (t *Turn) Next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.iteration++
}

// Iteration is the number of the model call, from 1; 0 outside a turn.
func (t *Turn) Iteration() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.iteration
}

// Finish says that the model has nothing more to do.
func (t *Turn) Finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished = true
}

// Finished reports whether the model has nothing more to do.
func (t *Turn) Finished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.finished
}

// Running reports whether the model works on what the user said.
func (t *Turn) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.iteration > 0 && !t.finished
}

// SetResponse notes what the model answered.
func (t *Turn) SetResponse(r Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.response = r
}

// Response is what the model answered last.
func (t *Turn) Response() Response {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.response
}

// AddCall notes an executed call, with the files that it edited.
func (t *Turn) AddCall(c sdk.ToolCall, edited []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	for _, path := range edited {
		t.patches[path]++
	}
}

// ExpectResults says how many results the response that was given will have.
func (t *Turn) ExpectResults(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results = results{open: n}
}

// AddResult notes the result of a finished call, which will enter the history.
func (t *Turn) AddResult(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results.open--
	t.results.taken += len(text) / bytesPerToken
}

// waiting are the results that have not entered the history.
func (t *Turn) waiting() results {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.results
}

// complete puts what is known of the turn into a snapshot.
func (t *Turn) complete(s *sdk.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Iteration = t.iteration
	s.PatchCounts = maps.Clone(t.patches)
	s.ToolHistory = slices.Clip(t.calls)
	s.ResponseEmpty = t.response.Textless && !t.response.Calls
	s.ResponseContentEmpty, s.HasToolCalls = t.response.Textless, t.response.Calls
}
