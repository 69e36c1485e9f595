package agent

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/idelchi/aura/internal/session"
)

// Choices are the switches of a session as values.
type Choices struct {
	Auto     bool   // Calls need no consent, and open todos keep the loop going.
	Done     bool   // The Done tool is offered.
	Verbose  bool   // Thinking is displayed.
	Think    string // Thinking mode; empty takes the profile's.
	MaxSteps int    // Model calls per turn; 0 takes the profile's bound.
}

// Switches are what the user can turn while a session runs. They may be used by several
// goroutines.
type Switches struct {
	mu      sync.Mutex
	initial Choices // As the command line set them, for this run only.
	now     Choices
}

func newSwitches(c Choices) *Switches { return &Switches{initial: c, now: c} }

// Now returns how the switches are.
func (s *Switches) Now() Choices {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Auto reports whether auto mode is on.
func (s *Switches) Auto() bool { return s.Now().Auto }

// SetAuto switches auto mode.
func (s *Switches) SetAuto(on bool) { s.set(func(c *Choices) { c.Auto = on }) }

// Done reports whether the Done tool is offered.
func (s *Switches) Done() bool { return s.Now().Done }

// SetDone offers the Done tool, or takes it away.
func (s *Switches) SetDone(on bool) { s.set(func(c *Choices) { c.Done = on }) }

// Verbose reports whether thinking is displayed.
func (s *Switches) Verbose() bool { return s.Now().Verbose }

// SetVerbose switches the display of thinking.
func (s *Switches) SetVerbose(on bool) { s.set(func(c *Choices) { c.Verbose = on }) }

// SetThink sets the thinking mode: off, on, low, medium or high.
func (s *Switches) SetThink(mode string) error {
	if !slices.Contains([]string{"off", "on", "low", "medium", "high"}, mode) {
		return fmt.Errorf("think: %q is not one of off, on, low, medium, high", mode)
	}
	s.set(func(c *Choices) { c.Think = mode })
	return nil
}

func (s *Switches) set(change func(*Choices)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
}

// save puts the switches into what is kept of a session. What the command line allowed, it
// allowed for this run.
func (s *Switches) save(m *session.Meta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Think = s.now.Think
	m.Switches = session.Switches{Auto: s.now.Auto && !s.initial.Auto, Done: s.now.Done, Verbose: s.now.Verbose}
}

// restore turns the switches to where they were in a session that is resumed. The command
// line wins.
func (s *Switches) restore(m *session.Meta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Auto = s.initial.Auto || m.Switches.Auto
	s.now.Done, s.now.Verbose = m.Switches.Done, m.Switches.Verbose
	if s.initial.Think == "" {
		s.now.Think = m.Think
	}
}

// thinkMode is the thinking mode, given the profile's: off, low, medium or high; empty
// leaves it to the server.
func (c Choices) thinkMode(profile string) string {
	if mode := cmp.Or(c.Think, profile); mode != "on" {
		return mode
	}
	return "medium"
}
