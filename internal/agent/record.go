package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/sdk"
)

// record keeps a conversation on disk. That its log cannot be written must not stop the
// conversation: the log is given up, and the user told once.
type record struct {
	current atomic.Pointer[session.Log] // nil: nothing is kept.
	meta    func() session.Meta         // What a resumed session needs to know besides its messages.
	failed  func(error)                 // Told why nothing is kept any more.
}

func newRecord(log *session.Log, meta func() session.Meta, failed func(error)) *record {
	r := &record{meta: meta, failed: failed}
	r.current.Store(log)
	return r
}

// log is where the conversation is kept; nil if nowhere.
func (r *record) log() *session.Log { return r.current.Load() }

// id is the ID of the session; empty if nothing is kept.
func (r *record) id() string {
	if log := r.log(); log != nil {
		return log.ID()
	}
	return ""
}

// attach continues in another log.
func (r *record) attach(log *session.Log) { r.current.Store(log) }

// add writes a finished message.
func (r *record) add(m message.Message) {
	log := r.log()
	if log == nil || !m.Saved() || m.Eject {
		return
	}
	if m.Role == message.User && m.Type == sdk.TypeNormal {
		if err := r.saveChoices(); err != nil {
			r.giveUp(err)
			return
		}
	}
	if err := log.Append(m); err != nil {
		r.giveUp(err)
	}
}

// rewrite replaces what was written.
func (r *record) rewrite(msgs []message.Message) {
	if log := r.log(); log != nil {
		if err := log.Rewrite(msgs); err != nil {
			r.giveUp(err)
		}
	}
}

// giveUp closes a log that cannot be written.
func (r *record) giveUp(err error) {
	r.failed(err)
	_ = r.current.Swap(nil).Close()
}

// saveMeta writes what a resumed session needs to know besides its messages.
func (r *record) saveMeta() error {
	if log := r.log(); log != nil {
		return log.SetMeta(r.meta())
	}
	return nil
}

// saveChoices is saveMeta if anything but the counts has changed: what was chosen before a
// turn must not be lost if the program dies in it.
func (r *record) saveChoices() error {
	m, old := r.meta(), r.log().Meta()
	same := m
	same.Created, same.Stats = old.Created, old.Stats
	if x, err := json.Marshal(same); err == nil {
		if y, err := json.Marshal(old); err == nil && bytes.Equal(x, y) {
			return nil
		}
	}
	return r.log().SetMeta(m)
}

// save makes the session durable.
func (r *record) save() error {
	if log := r.log(); log != nil {
		return errors.Join(r.saveMeta(), log.Sync())
	}
	return nil
}

// close saves the session and closes its log, also if it cannot be saved.
func (r *record) close() error {
	if log := r.log(); log != nil {
		return errors.Join(r.save(), log.Close())
	}
	return nil
}

// detach saves the session and lets go of its log. If it cannot be saved, it stays.
func (r *record) detach() error {
	if err := r.close(); err != nil {
		return err
	}
	r.current.Store(nil)
	return nil
}
