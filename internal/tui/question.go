package tui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// stage is what a question waits for.
type stage uint8

const (
	choosing stage = iota
	reasoning
	patterning
	scoping
)

// question is something that waits for the user: a call to approve, or what the
// model wants to know.
type question struct {
	approval *agent.Approval
	preview  pane
	pattern  string
	fixed    bool // The pattern cannot be edited: the field would show another one.
	ask      *agent.Question

	stage    stage
	field    *line.Editor
	at       int // The option under the cursor.
	chosen   map[int]bool
	unmarked bool // Enter was pressed and nothing was marked.
	shown    time.Time

	done     chan struct{}
	once     sync.Once
	decision agent.Decision // Valid when done is closed.
	answers  []string
}

func newApproval(q agent.Approval, preview []render.Line, pattern string) *question {
	return &question{
		approval: &q,
		preview:  pane{lines: preview},
		pattern:  pattern,
		field:    oneLine(),
		done:     make(chan struct{}),
	}
}

// oneLine is an editor of one line.
func oneLine() *line.Editor { return line.New(line.Options{Single: true}) }

// changes hands a key to an editor and reports whether its text is another one now.
func changes(e *line.Editor, name, typed string) bool {
	before := e.Value()
	e.Apply(line.Key{Name: name, Text: typed})
	return e.Value() != before
}

func newAsk(q agent.Question) *question {
	return &question{ask: &q, field: oneLine(), chosen: map[int]bool{}, done: make(chan struct{})}
}

func (q *question) decide(d agent.Decision) {
	q.once.Do(func() {
		q.decision = d
		close(q.done)
	})
}

func (q *question) answer(list []string) {
	q.once.Do(func() {
		q.answers = list
		close(q.done)
	})
}

func (q *question) finished() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// key takes a key. Ctrl+C and Esc in the first stage belong to the caller.
func (q *question) key(name, typed string) {
	switch name {
	case "pgdown", "ctrl+down":
		q.preview.scroll(q.preview.step())
		return
	case "pgup", "ctrl+up":
		q.preview.scroll(-q.preview.step())
		return
	}
	if q.ask != nil {
		q.askKey(name, typed)
		return
	}
	switch q.stage {
	case choosing:
		q.choose(name)
	case reasoning:
		switch name {
		case "enter":
			q.decide(agent.Decision{Reason: strings.TrimSpace(q.field.Value())})
		case "esc":
			q.stage = choosing
		default:
			q.field.Apply(line.Key{Name: name, Text: typed})
		}
	case patterning:
		switch name {
		case "enter":
			if strings.TrimSpace(q.field.Value()) != "" {
				q.stage = scoping
			}
		case "esc":
			q.stage = choosing
		default:
			q.field.Apply(line.Key{Name: name, Text: typed})
		}
	case scoping:
		q.scope(name)
	}
}

func (q *question) choose(name string) {
	switch name {
	case "y":
		q.decide(agent.Decision{Allow: true})
	case "s":
		q.decide(agent.Decision{Allow: true, Remember: agent.ForSession, Pattern: q.pattern})
	case "p":
		q.field.Set(q.pattern)
		q.fixed = !render.Editable(q.pattern) || q.field.Value() != q.pattern
		if q.stage = patterning; q.fixed {
			q.stage = scoping
		}
	case "n", "esc":
		q.stage = reasoning
		q.field.Set("")
	case "down":
		q.preview.scroll(1)
	case "up":
		q.preview.scroll(-1)
	}
}

// chosenPattern is what the user made of the proposal, or the proposal itself.
func (q *question) chosenPattern() string {
	if q.fixed {
		return q.pattern
	}
	return strings.TrimSpace(q.field.Value())
}

func (q *question) scope(name string) {
	scopes := render.Scopes(*q.approval)
	i := slices.IndexFunc(scopes, func(s render.Scope) bool { return string(s.Key) == name })
	switch {
	case i >= 0:
		q.decide(agent.Decision{Allow: true, Remember: scopes[i].Remember, Pattern: q.chosenPattern()})
	case name == "esc" || name == "b":
		if q.stage = patterning; q.fixed {
			q.stage = choosing
		}
	}
}

func (q *question) askKey(name, typed string) {
	n := len(q.ask.Options)
	if n == 0 {
		if name == "enter" {
			if text := strings.TrimSpace(q.field.Value()); text != "" {
				q.answer([]string{text})
			}
			return
		}
		q.field.Apply(line.Key{Name: name, Text: typed})
		return
	}
	q.unmarked = false
	switch name {
	case "up", "ctrl+p", "k":
		q.at = (q.at + n - 1) % n
	case "down", "ctrl+n", "j":
		q.at = (q.at + 1) % n
	case "space":
		if q.ask.Multi {
			q.chosen[q.at] = !q.chosen[q.at]
		}
	case "enter":
		q.take()
	default:
		if i, err := strconv.Atoi(typed); err == nil && i >= 1 && i <= n {
			q.at = i - 1
			if q.ask.Multi {
				q.chosen[q.at] = !q.chosen[q.at]
			} else {
				q.take()
			}
		}
	}
}

// take answers with what is under the cursor or, where several can be chosen, with
// what is marked: nothing marked is no answer.
func (q *question) take() {
	if !q.ask.Multi {
		q.answer([]string{q.ask.Options[q.at]})
		return
	}
	var list []string
	for _, i := range slices.Sorted(maps.Keys(q.chosen)) {
		if q.chosen[i] {
			list = append(list, q.ask.Options[i])
		}
	}
	if q.unmarked = len(list) == 0; !q.unmarked {
		q.answer(list)
	}
}

// draw shows the question in at most height lines, and where the cursor is; x is -1
// if there is none.
func (q *question) draw(limit, height int) (lines []string, x, y int) {
	x = -1
	if q.ask != nil {
		return q.drawAsk(limit, height)
	}
	lines = append(lines, q.title(limit))
	foot, fx := q.foot(limit)
	why := q.why(limit)
	room := max(height-len(lines)-len(why)-len(foot), 1)
	lines = append(lines, q.preview.draw(limit, room)...)
	lines = append(lines, why...)
	if fx >= 0 {
		x, y = fx, len(lines)
	}
	return append(lines, foot...), x, y
}

func (q *question) title(limit int) string {
	who := ""
	if q.approval.Agent != "" {
		who = " (agent " + terminal.OneLine(q.approval.Agent) + ")"
	}
	name := terminal.OneLine(q.approval.Tool)
	who = width.Fit(who, max(limit-2-width.Of(name), 0))
	return yellow.paint("?") + " " + bold.paint(width.Fit(name, limit-2)) + grey.paint(who)
}

// why says who asks and what the call does besides.
func (q *question) why(limit int) []string {
	var lines []string
	if len(q.approval.Effects) > 0 {
		lines = append(
			lines,
			grey.paint(width.Fit("  effects: "+terminal.OneLine(strings.Join(q.approval.Effects, ", ")), limit)),
		)
	}
	for _, ask := range q.approval.Asks {
		text := terminal.OneLine(ask.Source.String()) + " asks: " + terminal.OneLine(ask.Reason)
		lines = append(lines, "  "+yellow.paint(width.Fit(text, limit-2)))
	}
	return lines
}

// foot is the line that takes the answer.
func (q *question) foot(limit int) (lines []string, x int) {
	input := func(label string) ([]string, int) {
		rows, y, cx := q.field.Rows(line.Room{Width: max(limit-width.Of(label)-1, 4)})
		return []string{cyan.paint(label) + rows[y].Text}, width.Of(label) + cx
	}
	switch q.stage {
	case reasoning:
		return input("reason (Enter for none): ")
	case patterning:
		return input("allow always: ")
	case scoping:
		lines = []string{"  " + width.Fit(terminal.OneLine(q.chosenPattern()), limit-2)}
		var pairs []string
		for _, s := range render.Scopes(*q.approval) {
			pairs = append(pairs, string(s.Key), s.Text)
		}
		more, _ := choices(limit, append(pairs, "b", "back")...)
		return append(lines, more...), -1
	}
	lines, used := choices(limit, "y", "once", "s", "session", "p", "pattern…", "n", "deny…")
	// What [s] allows must be seen.
	if pattern := terminal.OneLine(q.pattern); used+3+width.Of(pattern) <= limit {
		lines[len(lines)-1] += grey.paint("   " + pattern)
	} else {
		lines = append(lines, prefixed(fold(width.Fit(pattern, 2*(limit-5)), grey, limit-5), "     ", "     ")...)
	}
	return lines, -1
}

// choices draws keys and what they do, in as many lines as they need; used is the width
// of the last one.
func choices(limit int, pairs ...string) (lines []string, used int) {
	lines = []string{""}
	for i := 0; i+1 < len(pairs); i += 2 {
		w := width.Of(pairs[i]) + width.Of(pairs[i+1]) + 5
		if used+w-1 > limit && used > 0 { // The blank at the end may be cut.
			lines, used = append(lines, ""), 0
		}
		used += w
		lines[len(lines)-1] += " " + cyan.with(bold).paint("["+pairs[i]+"]") + " " + pairs[i+1] + " "
	}
	return lines, used
}

func (q *question) drawAsk(limit, height int) (lines []string, x, y int) {
	x = -1
	for i, line := range wrapText(terminal.Visible(strings.TrimSpace(q.ask.Text)), none, limit-2) {
		lead := "  "
		if i == 0 {
			lead = yellow.paint("?") + " "
		}
		lines = append(lines, lead+line)
	}
	if len(q.ask.Options) == 0 {
		rows, cy, cx := q.field.Rows(line.Room{Width: max(limit-2, 4)})
		lines = lines[max(0, len(lines)-height+1):]
		return append(lines, cyan.paint("❯ ")+rows[cy].Text), cx + 2, len(lines)
	}
	help := "Enter takes it, Esc cancels the turn"
	if q.ask.Multi {
		help = "Space marks, Enter takes what is marked, Esc cancels the turn"
	}
	style := grey
	if q.unmarked {
		help, style = "nothing is marked: Space or a number marks, Esc cancels the turn", yellow
	}
	room := max(height-len(lines)-1, 1)
	first := max(0, min(q.at-room/2, len(q.ask.Options)-room))
	for i := first; i < min(first+room, len(q.ask.Options)); i++ {
		mark := ""
		if q.ask.Multi {
			mark = "[ ] "
			if q.chosen[i] {
				mark = "[x] "
			}
		}
		line := width.Fit(fmt.Sprintf("  %d. %s%s", i+1, mark, terminal.OneLine(q.ask.Options[i])), limit)
		if i == q.at {
			line = reverse.paint(line)
		}
		lines = append(lines, line)
	}
	return append(lines, style.paint(width.Fit("  "+help, limit))), x, 0
}
