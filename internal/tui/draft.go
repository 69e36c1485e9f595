package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/line/history"
)

// draft is the input while it is in the editor of the user. It may be used from any
// goroutine.
type draft struct {
	mu     sync.Mutex
	file   string // Empty: no editor is open.
	signal os.Signal
	stop   context.CancelFunc
}

// editorGrace is how long an editor may take to end after a signal.
const editorGrace = 2 * time.Second

// open writes text to a file and returns the command that edits it.
func (d *draft) open(text, editor string) (*exec.Cmd, error) {
	f, err := os.CreateTemp("", "aura-*.md")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	ctx, stop := context.WithCancel(context.Background())
	words := strings.Fields(editor)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.WaitDelay = editorGrace
	d.mu.Lock()
	defer d.mu.Unlock()
	d.file, d.stop, d.signal = f.Name(), stop, nil
	cmd.Cancel = func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.signal != nil && cmd.Process.Signal(d.signal) == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	return cmd, nil
}

// pass hands a signal on to the editor, which is expected to end. It reports whether
// one is open.
func (d *draft) pass(s os.Signal) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == "" {
		return false
	}
	if s != os.Interrupt { // The terminal has told the editor itself, and it need not end.
		d.signal = s
		d.stop()
	}
	return true
}

// close removes the file and returns what was in it; ok is false if none is open.
func (d *draft) close() (text string, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == "" {
		return "", false, nil
	}
	data, err := os.ReadFile(d.file)
	err = errors.Join(err, os.Remove(d.file))
	d.stop()
	d.file = ""
	return strings.TrimRight(strings.ToValidUTF8(string(data), "\ufffd"), "\n"), true, err
}

// keep saves what was in an editor that had to end: it is the latest entry of the
// history.
func (d *draft) keep(h *history.List) {
	if text, ok, err := d.close(); ok && err == nil && strings.TrimSpace(text) != "" {
		h.Add(text)
	}
}

// edited is the end of the external editor.
type edited struct{ err error }

// edit opens the input in the editor of the user.
func (m *model) edit() tea.Cmd {
	cmd, err := m.ui.draft.open(m.input.Value(), firstOf(m.ui.env("VISUAL"), m.ui.env("EDITOR"), "vi"))
	if err != nil {
		m.view.flash = err.Error()
		return nil
	}
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return edited{err} })
}

func (m *model) edited(e edited) {
	text, ok, err := m.ui.draft.close()
	switch {
	case e.err != nil:
		m.view.flash = fmt.Sprintf("the editor failed: %v", e.err)
	case err != nil:
		m.view.flash = err.Error()
	case ok:
		m.input.Set(text)
		m.complete()
	}
}
