package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Question is what a tool asks the user, as Approval is what a gate asks.
type Question = tool.Question

// Approval is a call that needs a user's consent.
type Approval struct {
	Tool    string
	Args    map[string]any
	Effects []string            // Declared side effects.
	Asks    []lifecycle.Refusal // Who asks, and why.
	Agent   string
	Pattern string     // Proposed for remembering; empty: the name of the tool.
	Keep    []Remember // For how long a decision can be remembered here; empty is all.
}

// Keeps reports whether a decision can be remembered for that long.
func (q Approval) Keeps(r Remember) bool { return len(q.Keep) == 0 || slices.Contains(q.Keep, r) }

// Decision is the user's answer to an Approval.
type Decision struct {
	Allow    bool
	Reason   string   // Why not.
	Remember Remember // For how long Pattern is allowed without asking again.
	Pattern  string
}

// Remember is how long a decision holds.
type Remember string

// How long a decision can hold. The zero value is this call only.
const (
	ForSession Remember = "session"
	ForProject Remember = "project"
	ForAlways  Remember = "global"
)

// NobodyAsked is what the trace says where a decision was wanted and nobody was there.
const NobodyAsked = "nobody could be asked"

// String tells what was decided.
func (d Decision) String() string {
	switch {
	case !d.Allow:
		return cmp.Or(d.Reason, "no reason given")
	case d.Pattern == "" || d.Remember == "":
		return "this once"
	case d.Remember == ForSession:
		return "for the session: " + d.Pattern
	case d.Remember == ForProject:
		return "always in this project: " + d.Pattern
	}
	return "always: " + d.Pattern
}

// approve asks the user about a call.
func (t *turn) approve(ctx context.Context, c *call, asks []lifecycle.Refusal) {
	a := t.a
	r := lifecycle.Record{
		Time: time.Now(), Moment: lifecycle.BeforeToolExecution, Source: lifecycle.Approval, Verdict: lifecycle.Blocked,
		Detail: NobodyAsked, Tool: c.Name, CallID: c.ID,
	}
	if a.opts.Approve == nil {
		a.opts.Pipeline.Note(r)
		c.reject(fmt.Sprintf(
			"needs approval (%s), and nobody can be asked here. The user can allow it with --auto or by a "+
				"rule in tools.policy.auto.", reasons(asks),
		))
		return
	}
	d := a.opts.Approve(ctx, Approval{
		Tool: c.Name, Args: c.Arguments, Effects: c.tool.SideEffects, Asks: asks, Agent: a.profile.Agent,
	})
	if r.Duration, r.Detail = time.Since(r.Time), d.String(); d.Allow {
		r.Verdict = lifecycle.Allowed
	}
	a.opts.Pipeline.Note(r)
	if !d.Allow {
		c.reject("denied by the user: " + cmp.Or(d.Reason, "no reason given"))
	}
}

// reasons tells why a call is put to the user.
func reasons(asks []lifecycle.Refusal) string {
	var texts []string
	for _, ask := range asks {
		texts = append(texts, ask.Reason)
	}
	return strings.Join(texts, "; ")
}

// Keeper remembers what a user has allowed.
type Keeper struct {
	Allow func(pattern string)             // For the session.
	Save  func(home, pattern string) error // For good, in a home.
	Homes map[Remember]string              // Where ForProject and ForAlways are kept; empty: nowhere.
}

// Remembering makes an Options.Approve that puts a call to the user through ask and
// remembers the decision for as long as they say. notice tells what could not be kept.
func Remembering(
	ask func(context.Context, Approval) Decision, k Keeper, notice func(source, text string),
) func(context.Context, Approval) Decision {
	return func(ctx context.Context, q Approval) Decision {
		q.Keep = []Remember{ForSession}
		for _, r := range []Remember{ForProject, ForAlways} {
			if k.Homes[r] != "" {
				q.Keep = append(q.Keep, r)
			}
		}
		d := ask(ctx, q)
		if !d.Allow || d.Pattern == "" || d.Remember == "" {
			return d
		}
		if !q.Keeps(d.Remember) {
			notice("approvals", "there is no home to keep that in: it holds for this session "+
				"(aura init makes one for the project)")
			d.Remember = ForSession
		}
		if d.Remember == ForSession {
			k.Allow(d.Pattern)
		} else if err := k.Save(k.Homes[d.Remember], d.Pattern); err != nil {
			notice("approvals", err.Error())
		}
		return d
	}
}
