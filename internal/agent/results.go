package agent

import (
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/wording"
)

// minResult is what a result may always take, in tokens: less would say nothing.
const minResult = 256

// waitingResults are results of a response that have not entered the history yet.
type waitingResults struct {
	taken int // Rough tokens of those that are finished.
	open  int // Calls that are not.
}

// takeRoom counts the result of a finished call.
func (a *Agent) takeRoom(c *call) {
	if c.nested { // It will be part of another result.
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn.results.open--
	a.turn.results.taken += len(c.text()) / 4
}

// resultLimit is how many tokens the result of a call may take; 0 is no limit. Where
// the window is what counts, the results of one response share what is left of it:
// those that are known are cut alike, and calls that have not run find some room too.
func (a *Agent) resultLimit(c *call, following []*call) int {
	r := a.profile.Settings.Result
	if r.Percent <= 0 || a.info.ContextLength <= 0 {
		return r.Tokens
	}
	a.mu.Lock()
	results := a.turn.results
	a.mu.Unlock()
	room := int(float64(a.info.ContextLength)*r.Percent/100) - a.tokens.real(a.rough()+results.taken)
	if !c.nested {
		room -= minResult * (results.open - 1 - len(following))
	}
	sizes, others := []int{a.size(c.text())}, 0
	for _, f := range following {
		size := a.size(f.text())
		sizes = append(sizes, size)
		others += size
	}
	return max(room-others, share(room, sizes), minResult)
}

// share is the size to which the larger ones must be cut so that all fit into room.
func share(room int, sizes []int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > room {
			return room / left
		}
		room -= size
	}
	return room
}

// limitResult cuts a result that is larger than limit tokens; 0 is no limit.
func (a *Agent) limitResult(text string, limit int) string {
	if limit <= 0 || a.size(text) <= limit {
		return text
	}
	keep := int(float64(limit) * 4 * float64(len(text)/4) / float64(max(a.size(text), 1)))
	head, tail := wording.Head(text, keep*2/3), wording.Tail(text, keep/3)
	return fmt.Sprintf(
		"%s\n\n[… %d of %d bytes left out: the result is larger than %d tokens. Ask for less at a time.]\n\n%s",
		head,
		len(text)-len(head)-len(tail),
		len(text),
		limit,
		tail,
	)
}
