// Package session keeps conversations on disk: one append-only file of JSON
// lines for each, written message by message and replayed on resume. It does
// not decide what belongs into a history, which is the agent's, nor when a
// session is saved or named, which is the user's.
package session

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

// Meta is what is remembered about a session besides its messages.
type Meta struct {
	Created     time.Time `json:"created,omitzero"`
	Name        string    `json:"name,omitempty"`  // Given by the user; resumes the session like its ID.
	Title       string    `json:"title,omitempty"` // What it is about, for lists.
	Workdir     string    `json:"workdir,omitempty"`
	Agent       string    `json:"agent,omitempty"`
	Mode        string    `json:"mode,omitempty"`
	Provider    string    `json:"provider,omitempty"`
	Model       string    `json:"model,omitempty"`
	Think       string    `json:"think,omitempty"`
	Switches    Switches  `json:"switches,omitzero"`
	LoadedTools []string  `json:"loaded_tools,omitempty"` // Deferred tools the model has loaded.
	Approvals   []string  `json:"approvals,omitempty"`    // Patterns the user approved for this session.
	FilesRead   []string  `json:"files_read,omitempty"`   // What the model has seen, for read-before-write.
	Stats       sdk.Stats `json:"stats,omitzero"`
	Todo        Todo      `json:"todo,omitzero"`
}

// Switches are the settings a user changes while a session runs. A nil or empty
// one was never touched: the configuration decides.
type Switches struct {
	Provider         string `json:"provider,omitempty"` // Chosen by the user.
	Model            string `json:"model,omitempty"`    // Likewise.
	Auto             bool   `json:"auto,omitempty"`
	Done             bool   `json:"done,omitempty"`
	Verbose          bool   `json:"verbose,omitempty"`
	Sandbox          *bool  `json:"sandbox,omitempty"`
	ReadBeforeWrite  *bool  `json:"read_before_write,omitempty"`
	ReadBeforeDelete *bool  `json:"read_before_delete,omitempty"`
}

// Todo is the todo list of a session.
type Todo struct {
	Summary string      `json:"summary,omitempty"`
	Items   []todo.Item `json:"items,omitempty"`
}

// State is a session as it was last written.
type State struct {
	ID         string            `json:"id"`
	ForkedFrom string            `json:"forked_from,omitempty"` // The session this one was forked from; empty for most.
	Meta       Meta              `json:"meta"`
	Messages   []message.Message `json:"messages"`

	// Open says that the last messages are of a turn whose end was never written: the
	// program died in it.
	Open bool `json:"-"`
}

// Info is one line of a list of sessions.
type Info struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Title    string    `json:"title"` // The first words of the user where no title was set.
	Agent    string    `json:"agent"`
	Model    string    `json:"model"`
	Workdir  string    `json:"workdir"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Messages int       `json:"messages"`
	Size     int64     `json:"size"` // Bytes on disk.

	// Error says why the session cannot be read; everything that is in the file is
	// unknown then.
	Error string `json:"error,omitempty"`
}

// Kinds of records. Other kinds are left alone, so that an older program can
// resume what a newer one has written.
const (
	kindSession = "session" // First line: version, ID, origin and the first meta data.
	kindMessage = "message"
	kindMeta    = "meta"
	kindReset   = "reset" // Replaces all messages before it, in one line so that it is whole or absent.
)

// version is the format of the file. A higher one cannot be read.
const version = 1

// record is one line. Kind comes first: lists look at the beginning of lines.
type record struct {
	Kind       string            `json:"kind"`
	Version    int               `json:"version,omitempty"`
	ID         string            `json:"id,omitempty"`
	ForkedFrom string            `json:"forked_from,omitempty"`
	Count      int               `json:"count,omitempty"` // Meta records: messages at that time.
	Meta       *Meta             `json:"meta,omitempty"`
	Message    *message.Message  `json:"message,omitempty"`
	Messages   []message.Message `json:"messages,omitempty"`
}

// Store is a directory of sessions. It does nothing until it is used; the
// directory is created with the first session.
type Store struct {
	dir       string
	elsewhere []string // Further directories, see With.
	roots     []string
}

// Open returns the store in dir.
func Open(dir string) *Store { return &Store{dir: dir} }

// With returns the store with more sessions: those in other directories that were held
// in one of the roots or below it. They are found, continued and deleted where they
// are; new ones go to the directory of the store.
func (s *Store) With(roots []string, dirs ...string) *Store {
	return &Store{dir: s.dir, elsewhere: dirs, roots: roots}
}

// Dir returns the directory of the store, where new sessions go.
func (s *Store) Dir() string { return s.dir }

const extension = ".jsonl"

func pathOf(dir, id string) string { return filepath.Join(dir, id+extension) }

// Create starts a session. Its file appears with the first message of the
// user: a session in which nobody said anything leaves no trace. A zero
// meta.Created means now.
func (s *Store) Create(meta Meta) (*Log, error) {
	if meta.Created.IsZero() {
		meta.Created = time.Now()
	}
	return s.create("", meta), nil
}

func (s *Store) create(forkedFrom string, meta Meta) *Log {
	id := newID()
	return &Log{dir: s.dir, id: id, path: pathOf(s.dir, id), meta: meta, forkedFrom: forkedFrom}
}

// newID returns a random UUID, version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // Never fails.
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
