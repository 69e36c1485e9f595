package conversation

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/idelchi/aura/sdk"
)

// Stats counts what happens in a session.
type Stats struct {
	mu     sync.Mutex
	counts sdk.Stats // Without what Snapshot works out.
	tools  map[string]int
}

// Reset begins to count anew.
func (s *Stats) Reset() { s.Restore(sdk.Stats{}) }

// Restore continues the counts of a saved session.
func (s *Stats) Restore(saved sdk.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = map[string]int{}
	for _, t := range saved.TopTools {
		s.tools[t.Name] = t.Count
	}
	s.counts = saved
	s.counts.StartTime, s.counts.TopTools = time.Now().Add(-saved.Duration), nil
}

// Snapshot returns the counts of now.
func (s *Stats) Snapshot() sdk.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.counts
	out.Duration, out.ToolCalls = time.Since(out.StartTime), 0
	for name, n := range s.tools {
		out.ToolCalls += n
		out.TopTools = append(out.TopTools, sdk.ToolCount{Name: name, Count: n})
	}
	slices.SortFunc(out.TopTools, func(a, b sdk.ToolCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// AddInteraction counts an input of the user.
func (s *Stats) AddInteraction() { s.add(func(c *sdk.Stats) { c.Interactions++ }) }

// AddTurn counts an input that goes to the model.
func (s *Stats) AddTurn() { s.add(func(c *sdk.Stats) { c.Turns++ }) }

// AddIteration counts a model call.
func (s *Stats) AddIteration() { s.add(func(c *sdk.Stats) { c.Iterations++ }) }

// AddParseRetry counts a call that was handed back to the model.
func (s *Stats) AddParseRetry() { s.add(func(c *sdk.Stats) { c.ParseRetries++ }) }

// AddCompaction counts a compaction.
func (s *Stats) AddCompaction() { s.add(func(c *sdk.Stats) { c.Compactions++ }) }

// AddCall counts an executed tool call.
func (s *Stats) AddCall(tool string, failed bool) {
	s.add(func(c *sdk.Stats) {
		s.tools[tool]++
		if failed {
			c.ToolErrors++
		}
	})
}

// Spend counts what a model call cost.
func (s *Stats) Spend(in, out int) {
	s.add(func(c *sdk.Stats) { c.TokensIn, c.TokensOut = c.TokensIn+in, c.TokensOut+out })
}

// Spent is what model calls have cost.
func (s *Stats) Spent() (in, out int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts.TokensIn, s.counts.TokensOut
}

// Turns is how many inputs went to the model.
func (s *Stats) Turns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts.Turns
}

func (s *Stats) add(change func(*sdk.Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}
