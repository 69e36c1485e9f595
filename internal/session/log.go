package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/lockfile"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// Log is a session that is being written. It may be used by several goroutines.
// Nothing is cut short by a crash but the record being written.
type Log struct {
	dir        string
	id         string
	path       string
	forkedFrom string

	mu      sync.Mutex
	meta    Meta
	written []byte            // The last meta data in the file, encoded.
	pending []message.Message // Messages before the first one of the user.
	count   int               // Messages a resume would return.
	file    *os.File          // Nil until the first message of the user.
	lock    *lockfile.Lock
	size    int64 // Of the complete records in file.
	dirty   bool  // Written since the last Sync.
	closed  bool
	buf     bytes.Buffer
}

// ID returns the session's ID, which it has from the start.
func (l *Log) ID() string { return l.id }

// Path returns the file of the session, which need not exist yet.
func (l *Log) Path() string { return l.path }

// Saved reports whether the session is on disk.
func (l *Log) Saved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file != nil
}

// Append writes a finished message. Ephemeral ones are never written.
func (l *Log) Append(m message.Message) error {
	if !m.Saved() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !fromUser(&m) && !l.closed {
		l.pending = append(l.pending, m)
		return nil
	}
	if err := l.open(); err != nil {
		return err
	}
	if err := l.write(record{Kind: kindMessage, Message: &m}); err != nil {
		return err
	}
	l.count++
	return nil
}

// Rewrite replaces all messages, after a compaction or an undo. The file only
// grows: what was said before stays in it, but is not replayed.
func (l *Log) Rewrite(messages []message.Message) error {
	saved := make([]message.Message, 0, len(messages))
	spoken := false
	for i := range messages {
		if messages[i].Saved() {
			saved = append(saved, messages[i])
			spoken = spoken || fromUser(&messages[i])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !spoken && !l.closed {
		l.pending = saved
		return nil
	}
	l.pending = nil
	if err := l.open(); err != nil {
		return err
	}
	// The meta data behind it keep the count of messages right for lists.
	meta := record{Kind: kindMeta, Count: len(saved), Meta: &l.meta}
	if err := l.write(record{Kind: kindReset, Messages: saved}, meta); err != nil {
		return err
	}
	l.count = len(saved)
	return nil
}

// SetMeta replaces the meta data. It is written at once if the session is on
// disk and something changed. A zero meta.Created keeps the time that is known.
func (l *Log) SetMeta(meta Meta) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if meta.Created.IsZero() {
		meta.Created = l.meta.Created
	}
	l.meta = meta
	if l.file == nil {
		return nil
	}
	encoded, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("session %s: meta data: %w", l.id, err)
	}
	if bytes.Equal(encoded, l.written) {
		return nil
	}
	if err := l.write(record{Kind: kindMeta, Count: l.count, Meta: &meta}); err != nil {
		return err
	}
	l.written = encoded
	return nil
}

// Meta returns the meta data as set last.
func (l *Log) Meta() Meta {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.meta
}

// Sync makes everything written so far survive a crash of the machine. A crash
// of the program needs no Sync.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.sync(); err != nil {
		return fmt.Errorf("session %s: %w", l.id, err)
	}
	return nil
}

func (l *Log) sync() error {
	if l.file == nil || !l.dirty || l.closed {
		return nil
	}
	l.dirty = false
	return l.file.Sync()
}

// Close ends the writing and lets others resume the session. It may be called
// more than once.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.sync()
	l.closed = true
	if l.file == nil {
		return nil
	}
	err = errors.Join(err, l.file.Close())
	l.lock.Release()
	if err != nil {
		return fmt.Errorf("session %s: %w", l.id, err)
	}
	return nil
}

// fromUser reports whether the message makes a session worth keeping.
func fromUser(m *message.Message) bool {
	return m.Role == message.User && (m.Type == sdk.TypeNormal || m.Type == "")
}

// open creates the file of a new session with everything that is pending.
func (l *Log) open() error {
	if l.closed {
		return fmt.Errorf("session %s is closed", l.id)
	}
	if l.file != nil {
		return nil
	}
	encoded, err := json.Marshal(l.meta)
	if err != nil {
		return fmt.Errorf("session %s: meta data: %w", l.id, err)
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return cannotWrite(l.dir, l.id, err)
	}
	held, err := acquire(l.dir, l.id)
	if err != nil {
		return err
	}
	l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		held.Release()
		l.file = nil
		return cannotWrite(l.dir, l.id, err)
	}
	l.lock = held
	records := []record{{Kind: kindSession, Version: version, ID: l.id, ForkedFrom: l.forkedFrom, Meta: &l.meta}}
	for i := range l.pending {
		records = append(records, record{Kind: kindMessage, Message: &l.pending[i]})
	}
	if err := l.write(records...); err != nil {
		_ = l.file.Close()
		_ = os.Remove(l.path)
		l.file = nil
		held.Release()
		return err
	}
	l.written, l.count, l.pending = encoded, len(l.pending), nil
	syncDir(filepath.Dir(l.path))
	return nil
}

// write appends records in a single write. After a failure the file ends with
// the last complete record again, so that later ones are not spoiled.
func (l *Log) write(records ...record) error {
	if l.closed {
		return fmt.Errorf("session %s is closed", l.id)
	}
	l.buf.Reset()
	enc := jsontext.NewEncoder(&l.buf)
	for i := range records {
		if err := enc.Encode(&records[i]); err != nil {
			return fmt.Errorf("session %s: %s record: %w", l.id, records[i].Kind, err)
		}
	}
	n, err := l.file.Write(l.buf.Bytes())
	if err != nil {
		if n > 0 {
			_ = l.file.Truncate(l.size)
		}
		return cannotWrite(l.dir, l.id, err)
	}
	l.size += int64(n)
	l.dirty = true
	if l.buf.Cap() > 1<<20 { // One huge message must not stay in memory twice.
		l.buf = bytes.Buffer{}
	}
	return nil
}

// cannotWrite explains why nothing can be saved.
func cannotWrite(dir, id string, err error) error {
	hint := ""
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		hint = " (the directory must be writable)"
	}
	return fmt.Errorf("session %s cannot be saved in %s%s: %w", id, dir, hint, err)
}

// syncDir makes a new file's name durable where the system needs it for that.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
