package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/sdk"
)

// Start tells the handlers that the session begins.
func (a *Agent) Start(ctx context.Context, resumed bool) {
	announce(ctx, a, &sdk.SessionStartContext{Resumed: resumed})
}

// Leave tells the handlers that the session ends because another one takes its
// place; Resume or Begin must follow. At the end of the program it is Close.
func (a *Agent) Leave(ctx context.Context) { a.end(ctx, "exit") }

// Close tells the handlers that the session ends and closes its log.
func (a *Agent) Close(ctx context.Context, reason string) error {
	a.end(ctx, reason)
	return a.record.close()
}

// end tells the handlers that the session ends.
func (a *Agent) end(ctx context.Context, reason string) {
	out := emit(ctx, a, &sdk.SessionEndContext{Reason: reason}, nil)
	a.tell(out.Outcome)
}

// Log returns the session log; nil if nothing is kept.
func (a *Agent) Log() *session.Log { return a.record.log() }

// Save writes the state of the session now, as the end of every turn does. A
// session in which nobody has said anything yet stays off the disk.
func (a *Agent) Save() error { return a.record.save() }

// Detach saves the session and lets go of its log; Resume or Begin must follow. If it
// cannot be saved, the agent stays with it.
func (a *Agent) Detach() error { return a.record.detach() }

// SetTitle sets what the session is about.
func (a *Agent) SetTitle(title string) error {
	a.conv.Label.SetTitle(title)
	return a.record.saveMeta()
}

// SetName gives the session a name by which it can be resumed.
func (a *Agent) SetName(name string) error {
	a.conv.Label.SetName(name)
	return a.record.saveMeta()
}

// Clear begins the conversation anew; the todo list is emptied too.
func (a *Agent) Clear() error {
	a.conv.Todo.Replace("", nil)
	a.replace(nil)
	return a.record.saveMeta()
}

// ErrNothingToUndo says that there is no input of the user left to take back.
var ErrNothingToUndo = errors.New("nothing to undo: there is no input to take back")

// Undo takes back the latest input of the user with everything that followed
// it, and returns its text. What tools did to files stays done, and so do the
// counts. A summary that a compaction made is not an input.
func (a *Agent) Undo() (string, error) {
	text, ok := a.conv.History.Undo()
	if !ok {
		return "", ErrNothingToUndo
	}
	a.record.rewrite(a.conv.History.Lasting())
	return text, nil
}

// replace sets the whole history and its record.
func (a *Agent) replace(msgs []message.Message) {
	a.conv.History.Replace(msgs)
	a.record.rewrite(a.conv.History.Lasting())
}

// Begin leaves the current session and starts a new one in log.
func (a *Agent) Begin(log *session.Log) error {
	if err := a.Detach(); err != nil {
		return err
	}
	a.record.attach(log)
	a.conv.Reset()
	return nil
}

// Resume continues a saved session: it takes over the log, the conversation and
// the switches, and makes its agent active. Where that agent is gone, the user
// is told and the current one goes on.
func (a *Agent) Resume(ctx context.Context, log *session.Log, state session.State) error {
	if err := a.Detach(); err != nil {
		return err
	}
	a.record.attach(log)
	m := &state.Meta
	a.conv.History.Replace(state.Messages)
	a.conv.Label.Set(m.Title, m.Name)
	a.conv.Todo.Replace(m.Todo.Summary, m.Todo.Items)
	a.conv.Stats.Restore(m.Stats)
	a.conv.Offer.Restore(m.LoadedTools)
	a.switches.restore(m)
	if state.Open {
		a.answerLost()
	}
	if m.Agent == "" {
		return nil
	}
	if err := a.Switch(ctx, m.Agent, cmp.Or(m.Mode, "none"), "resume"); err != nil {
		a.Notice("resume", fmt.Sprintf("%v; agent %s goes on", err, a.profile.Agent))
	}
	return nil
}

// lostCall is what the model is told about a call in whose middle the program died.
const lostCall = "aura ended in the middle of this call: it may have been carried out, in part or in full, and " +
	"its result is not known. Find out what it did before you repeat it."

// answerLost answers the calls at the end of the history that a death of the program left
// without an answer: what they did is of concern to the model.
func (a *Agent) answerLost() {
	var names []string
	for _, c := range a.conv.History.Unanswered() {
		names = append(names, c.Name)
		a.append(message.Message{
			Message: sdk.Message{Role: message.Tool, Content: lostCall, ToolName: c.Name, ToolCallID: c.ID},
			Failed:  true,
		})
	}
	if len(names) > 0 {
		a.Notice("resume", fmt.Sprintf(
			"aura ended in the middle of %s; what came of it is not known, and the model is told so",
			strings.Join(names, ", "),
		))
	}
}

// meta is what a resumed session needs to know besides its messages.
func (a *Agent) meta() session.Meta {
	summary, items := a.conv.Todo.Snapshot()
	m := session.Meta{
		Title:       a.conv.Label.Title(),
		Name:        a.conv.Label.Name(),
		Agent:       a.profile.Agent,
		Mode:        a.profile.Mode,
		Model:       a.profile.Model.Name,
		Provider:    a.profile.Model.Provider,
		LoadedTools: a.conv.Offer.Loaded(),
		Stats:       a.conv.Stats.Snapshot(),
		Todo:        session.Todo{Summary: summary, Items: items},
		Workdir:     a.opts.Place.Workdir,
	}
	a.switches.save(&m)
	if a.opts.Meta != nil {
		a.opts.Meta(&m)
	}
	return m
}
