package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// ErrNothingToUndo says that there is no input of the user left to take back.
var ErrNothingToUndo = errors.New("nothing to undo: there is no input to take back")

// Undo takes back the latest input of the user with everything that followed
// it, and returns its text. What tools did to files stays done, and so do the
// counts. A summary that a compaction made is not an input.
func (a *Agent) Undo() (string, error) {
	for i, m := range slices.Backward(a.hist.msgs) {
		if m.Role != message.User || m.Type != sdk.TypeNormal {
			continue
		}
		if isSummary(&m) {
			break
		}
		a.replace(slices.Clone(a.hist.msgs[:i]))
		return m.Content, nil
	}
	return "", ErrNothingToUndo
}

// Save writes the state of the session now, as the end of every turn does. A
// session in which nobody has said anything yet stays off the disk.
func (a *Agent) Save() error { return a.settle() }

// Detach saves the session and lets go of its log; Resume or Begin must follow. If it
// cannot be saved, the agent stays with it.
func (a *Agent) Detach() error {
	if a.opts.Log == nil {
		return nil
	}
	if err := errors.Join(a.settle(), a.opts.Log.Close()); err != nil {
		return err
	}
	a.opts.Log = nil
	return nil
}

// Leave tells the handlers that the session ends because another one takes its
// place; Resume or Begin must follow. At the end of the program it is Close.
func (a *Agent) Leave(ctx context.Context) {
	a.end(ctx, "exit")
}

// end tells the handlers that the session ends.
func (a *Agent) end(ctx context.Context, reason string) {
	if !a.opts.Pipeline.Has(lifecycle.SessionEnd) {
		return
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.SessionEndContext{Context: a.Snapshot(), Reason: reason}, nil)
	a.tell(out.Outcome)
}
