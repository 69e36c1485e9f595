package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
)

const whyDetails = `Says in words who refused, changed or asked for something last, when, and why, and
where that one is defined. /trace lists everything that handlers did.`

// whyMore is how many earlier interventions are told besides the last one.
const whyMore = 3

func why(_ context.Context, s *Session) error {
	told, asks := interventions(s.Agent.Pipeline().Records())
	if len(told) == 0 {
		s.Print("nothing was refused or changed so far: every handler let everything pass")
		return nil
	}
	lines := []string{sentence(told[0]) + "."}
	if file := told[0].Source.File; file != "" {
		lines = append(lines, "It is defined in "+file+".")
	}
	for _, r := range asks {
		lines = append(lines, asker(r))
	}
	if text := remedies[told[0].Source.Kind]; text != "" {
		lines = append(lines, text)
	}
	if len(told) > 1 {
		lines = append(lines, "", "Before that:")
		for _, r := range told[1:] {
			lines = append(lines, "  "+sentence(r))
		}
	}
	s.Print(strings.Join(lines, "\n"))
	return nil
}

// interventions are the latest records that are told, the last one first. A question is
// told by its answer; asks are the questions that the last one answers.
func interventions(records []lifecycle.Record) (told, asks []lifecycle.Record) {
	answered := ""
	for _, r := range slices.Backward(records) {
		switch {
		case r.Verdict == lifecycle.Passed || r.Verdict == lifecycle.Spoke:
			continue
		case r.Verdict == lifecycle.Asked && r.CallID == answered && answered != "":
			if len(told) == 1 {
				asks = append(asks, r)
			}
			continue
		}
		if len(told) > whyMore {
			break
		}
		if told = append(told, r); r.Source == lifecycle.Approval {
			answered = r.CallID
		}
	}
	slices.Reverse(asks)
	return told, asks
}

// remedies say where to look, by kind of handler.
var remedies = map[lifecycle.Kind]string{
	lifecycle.Guard:     "/policy shows the rules, /readbefore and /sandbox the other guards.",
	lifecycle.Hook:      "/hooks lists the shell hooks in running order.",
	lifecycle.Plugin:    "/plugins lists what the plugins do.",
	lifecycle.Extension: "/extensions lists what the extensions do.",
}

// sentence tells one intervention in words.
func sentence(r lifecycle.Record) string {
	if r.Source == lifecycle.Approval {
		return decision(r)
	}
	text := fmt.Sprintf("%s %s, %s ago (it took %s)", r.Source, deed(r), ago(time.Since(r.Time)), roundTime(r.Duration))
	if r.Detail != "" && r.Detail != "data" {
		text += ": " + clip(r.Detail, 300)
	}
	return strings.TrimSuffix(text, ".")
}

// decision tells what the user decided.
func decision(r lifecycle.Record) string {
	when := ago(time.Since(r.Time.Add(r.Duration)))
	switch {
	case r.Verdict == lifecycle.Allowed:
		return fmt.Sprintf("you allowed the call of %s, %s ago: %s", r.Tool, when, clip(r.Detail, 300))
	case r.Detail == agent.NobodyAsked:
		return fmt.Sprintf(
			"the call of %s was refused, %s ago: it needed your approval, and %s",
			r.Tool,
			when,
			r.Detail,
		)
	}
	return strings.TrimSuffix(
		fmt.Sprintf("you refused the call of %s, %s ago: %s", r.Tool, when, clip(r.Detail, 300)),
		".",
	)
}

// asker tells who wanted a decision.
func asker(r lifecycle.Record) string {
	text := fmt.Sprintf("The question came from %s: %s", r.Source, strings.TrimSuffix(clip(r.Detail, 300), "."))
	if r.Source.File != "" {
		text += " (" + r.Source.File + ")"
	}
	return text + "."
}

// deed is what a handler did, and to what.
func deed(r lifecycle.Record) string {
	row, _ := lifecycle.Describe(r.Moment)
	what := cmp.Or(row.Subject, string(r.Moment))
	if r.Tool != "" {
		what = "the call of " + r.Tool
	}
	switch r.Verdict {
	case lifecycle.Blocked:
		return "refused " + what
	case lifecycle.Asked:
		return "wanted you to decide about " + what
	case lifecycle.Changed:
		if row.Object != "" && r.Detail == "data" {
			return strings.TrimSpace("changed " + row.Object + " " + r.Tool)
		}
		return "intervened at " + what
	case lifecycle.Panicked:
		return "crashed at " + what
	case lifecycle.TimedOut:
		return "did not answer in time at " + what
	}
	return "failed at " + what
}

// ago is a rough duration.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return d.Round(time.Minute).String()
}
