// Package doctor looks at everything a session is made of, all at once, and says what
// is wrong and how to mend it. It mends nothing itself and holds no conversation.
package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/sandbox"
)

// Level is how bad a finding is.
type Level string

// The levels of findings.
const (
	OK   Level = "ok"
	Warn Level = "warn" // Works, though perhaps not as meant.
	Fail Level = "fail" // Does not work.
)

// Finding is one thing that was looked at, and how it is.
type Finding struct {
	Level Level  `json:"level"`
	Check string `json:"check"` // What was looked at: "git", "hook go:format".
	Text  string `json:"text"`  // How it is; one line.
	Hint  string `json:"hint,omitempty"`
}

func (f Finding) String() string {
	line := fmt.Sprintf("%-4s  %s: %s", f.Level, f.Check, f.Text)
	if f.Hint != "" {
		line += "  (" + f.Hint + ")"
	}
	return line
}

// Options says what to examine.
type Options struct {
	Homes    config.HomeOptions
	Read     func() (Place, error) // Reads the configuration.
	Tasks    func() (int, error)   // Reads the tasks and counts them.
	Bare     []extension.Kind      // Kinds that can be checked although the configuration is wrong.
	Terminal io.Writer             // Where a session would be shown.
	Patience time.Duration         // For what takes part in a session: servers, extensions; 0 is 5 s.
}

// Place is where a session would happen, with its configuration. Nothing runs yet.
type Place interface {
	Config() *config.Config
	Getenv(name string) string
	Features() (config.Features, error)
	Target() (models.Target, error)                        // Whom the agent would talk to.
	SandboxRules() (*sandbox.Rules, error)                 // nil: off.
	Kinds() ([]extension.Kind, error)                      // All kinds of extensions.
	Rehearse() (names []string, problems []error, _ error) // Makes the profiles of all agents.
	PolicyMistakes(brought []string) ([]string, error)     // Rules that match no call, given the tools of extensions.
}

const (
	patience = 5 * time.Second
	grace    = time.Second // For a check to clean up when its time is over.
)

// check is one part of the examination.
type check struct {
	name string
	bare bool // It can be done without a configuration that is right.
	run  func(ctx context.Context, p *patient) []Finding
}

// checks is everything that is looked at, in the order of the report. kinds are the
// checks of the kinds of extensions.
func checks(kinds []check) []check {
	return slices.Concat([]check{
		{"agents", false, agents},
		{"policy", false, policy},
		{"provider", false, providers},
		{"tasks", false, taskList},
	}, kinds, []check{
		{"sandbox", true, confinement},
		{"git", true, git},
		{"go", true, goToolchain},
		{"sessions", true, sessions},
		{"debug log", true, debugLog},
		{"terminal", true, checkTerminal},
	})
}

// patient is what is examined.
type patient struct {
	Options
	homes config.Homes
	place Place // nil: the configuration is wrong.
}

// Examine makes all checks at the same time. An error means that it was interrupted.
func Examine(ctx context.Context, o Options) ([]Finding, error) {
	if o.Patience <= 0 {
		o.Patience = patience
	}
	p := &patient{Options: o}
	list := p.configuration()
	var todo []check
	for _, c := range checks(p.kinds()) {
		if p.place != nil || c.bare {
			todo = append(todo, c)
		}
	}
	results := make([][]Finding, len(todo))
	var wg sync.WaitGroup
	for i, c := range todo {
		wg.Go(func() { results[i] = c.examine(ctx, p) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, r := range results {
		list = append(list, r...)
	}
	if p.place == nil {
		list = append(list, warn("everything else", "not looked at", "mend the configuration first"))
	}
	for i := range list {
		list[i].Text, list[i].Hint = oneLine(list[i].Text), oneLine(list[i].Hint)
	}
	return list, nil
}

// examine makes a check. One that does not come back is left behind.
func (c check) examine(ctx context.Context, p *patient) []Finding {
	limited, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- []Finding{fail(c.name, fmt.Sprintf("the check itself failed: %v", v), "please report it")}
			}
		}()
		done <- c.run(limited, p)
	}()
	late := time.NewTimer(p.Patience + grace)
	defer late.Stop()
	select {
	case list := <-done:
		return list
	case <-ctx.Done():
		select { // It may have something to end.
		case <-done:
		case <-time.After(grace):
		}
		return nil
	case <-late.C:
		return []Finding{fail(c.name, fmt.Sprintf("not finished within %s", p.Patience), "something in it hangs")}
	}
}

// configuration reads all configuration files.
func (p *patient) configuration() []Finding {
	const name = "configuration"
	homes, err := config.FindHomes(p.Homes)
	if err == nil {
		p.homes = homes
		place, wrong := p.Read()
		if err = wrong; err == nil {
			// Features are merged only now: --override may be wrong.
			if _, err = place.Features(); err == nil {
				p.place = place
			}
		}
	}
	if err != nil {
		return mistakes(name, err, "")
	}
	var found []string
	for _, home := range homes.All() {
		if info, err := os.Stat(home); err == nil && info.IsDir() {
			found = append(found, home)
		}
	}
	if len(found) == 0 {
		return []Finding{ok(name, "built-in defaults (aura init writes them out)")}
	}
	return []Finding{ok(name, strings.Join(found, ", "))}
}

// mistakes makes a finding of each error that is joined in err.
func mistakes(name string, err error, hint string) []Finding {
	var out []Finding
	for _, f := range extension.Mistakes(name, err) {
		out = append(out, fail(f.Subject, f.Text, hint))
	}
	return out
}

func ok(check, text string) Finding         { return Finding{OK, check, text, ""} }
func warn(check, text, hint string) Finding { return Finding{Warn, check, text, hint} }
func fail(check, text, hint string) Finding { return Finding{Fail, check, text, hint} }

// oneLine makes a text of others fit for a line on a terminal.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
