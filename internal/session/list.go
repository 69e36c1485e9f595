package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/message"
)

// entry is a session file as the directory lists it.
type entry struct {
	dir     string
	id      string
	updated time.Time
	size    int64
}

func (e entry) path() string { return pathOf(e.dir, e.id) }

// entries lists the files of the store, newest first. No directory is an
// empty store.
func (s *Store) entries() ([]entry, error) {
	list, err := entriesIn(s.dir)
	for _, dir := range s.elsewhere {
		more, _ := entriesIn(dir) // What is in another place must not close this one.
		list = append(list, more...)
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(a.id, b.id))
	})
	return list, err
}

func entriesIn(dir string) ([]entry, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sessions in %s: %w", dir, err)
	}
	list := make([]entry, 0, len(files))
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), extension)
		if !ok || id == "" || f.IsDir() {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() { // Deleted since, or something else.
			continue
		}
		list = append(list, entry{dir, id, info.ModTime(), info.Size()})
	}
	return list, nil
}

// List returns the sessions of the store, the newest first. It reads only the
// beginning and the end of each file. One that cannot be read says so in Info.Error.
func (s *Store) List() ([]Info, error) {
	_, list, err := s.list()
	return list, err
}

// list returns the sessions with the files they are in.
func (s *Store) list() ([]entry, []Info, error) {
	entries, err := s.entries()
	if err != nil {
		return nil, nil, err
	}
	list := make([]Info, 0, len(entries))
	kept := entries[:0]
	for _, e := range entries {
		if info, ok := s.info(e); ok {
			kept, list = append(kept, e), append(list, info)
		}
	}
	return kept, list, nil
}

// info describes a session, unless it is one of another project.
func (s *Store) info(e entry) (Info, bool) {
	info, err := readInfo(e)
	ours := e.dir == s.dir
	if err != nil {
		return Info{ID: e.id, Title: "(cannot be read)", Updated: e.updated, Size: e.size, Error: err.Error()}, ours
	}
	return info, ours || slices.ContainsFunc(s.roots, func(root string) bool {
		rel, err := filepath.Rel(root, info.Workdir)
		return info.Workdir != "" && err == nil && filepath.IsLocal(rel)
	})
}

// where names the directories of the store.
func (s *Store) where() string { return strings.Join(append([]string{s.dir}, s.elsewhere...), " and ") }

// Latest returns the ID of the session that was written last. With a workdir,
// only sessions of that directory count.
func (s *Store) Latest(workdir string) (string, error) {
	entries, err := s.entries()
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if info, ok := s.info(e); ok && info.Error == "" && (workdir == "" || info.Workdir == workdir) {
			return e.id, nil
		}
	}
	if workdir != "" {
		return "", fmt.Errorf("no session of %s to continue in %s", workdir, s.where())
	}
	return "", fmt.Errorf("no session to continue in %s", s.where())
}

// Find returns the ID of the one session that key means: an ID, a name, or
// the beginning of either, in upper or lower case.
func (s *Store) Find(key string) (string, error) {
	e, err := s.find(key)
	return e.id, err
}

func (s *Store) find(key string) (entry, error) {
	key = strings.TrimSpace(key)
	if key == "" {
		return entry{}, errors.New("session: an ID or a name is missing")
	}
	entries, err := s.entries()
	if err != nil {
		return entry{}, err
	}
	for _, e := range entries {
		if !strings.EqualFold(e.id, key) {
			continue
		}
		if _, ok := s.info(e); ok {
			return e, nil
		}
	}
	entries, list, err := s.list()
	if err != nil {
		return entry{}, err
	}
	for _, fits := range []func(Info) bool{
		func(i Info) bool { return strings.EqualFold(i.Name, key) },
		func(i Info) bool { return hasPrefixFold(i.ID, key) },
		func(i Info) bool { return hasPrefixFold(i.Name, key) },
	} {
		var found []Info
		var at entry
		for n, i := range list {
			if fits(i) {
				found, at = append(found, i), entries[n]
			}
		}
		switch {
		case len(found) == 1:
			return at, nil
		case len(found) > 1:
			return entry{}, fmt.Errorf("session %q is ambiguous: it could be %s", key, candidates(found))
		}
	}
	return entry{}, fmt.Errorf("session %q does not exist in %s%s", key, s.where(), suggestion(key, list))
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// candidates names some sessions in one line.
func candidates(list []Info) string {
	const limit = 5
	var names []string
	for _, i := range list[:min(limit, len(list))] {
		name := i.ID
		if label := cmp.Or(i.Name, i.Title); label != "" {
			name += fmt.Sprintf(" (%s)", label)
		}
		names = append(names, name)
	}
	if more := len(list) - limit; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// suggestion offers the sessions whose name or title contains a word of key or
// begins like it, else the newest ones.
func suggestion(key string, list []Info) string {
	if len(list) == 0 {
		return " (there are none)"
	}
	key = strings.ToLower(key)
	start := key[:min(3, len(key))]
	var close []Info
	for _, i := range list {
		name := strings.ToLower(i.Name)
		if strings.Contains(name, key) || strings.Contains(strings.ToLower(i.Title), key) ||
			strings.HasPrefix(name, start) || name != "" && strings.Contains(key, name) {
			close = append(close, i)
		}
	}
	if len(close) > 0 {
		return fmt.Sprintf(" (did you mean %s?)", candidates(close))
	}
	return fmt.Sprintf(" (the newest: %s)", candidates(list[:min(3, len(list))]))
}

const (
	headSize = 16 << 10
	tailSize = 32 << 10
	// tailLimit bounds how far a list looks back for the last meta data.
	tailLimit = 1 << 20
)

// readInfo reads the head and the tail of a session file.
func readInfo(e entry) (Info, error) {
	f, err := os.Open(e.path())
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	head := make([]byte, min(e.size, headSize))
	if _, err := io.ReadFull(f, head); err != nil {
		return Info{}, err
	}
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	var rec record
	valid := json.Unmarshal(first, &rec) == nil && rec.Kind == kindSession
	meta, count, found := lastMeta(f, e.size)
	if !valid || !found {
		// A session that was killed in its first turn, or one with a very long
		// first line: read it properly.
		r, err := decode(io.MultiReader(bytes.NewReader(head), f), e.path())
		if err != nil {
			return Info{}, err
		}
		return newInfo(e, &r.state.Meta, len(r.state.Messages), title(r.state.Messages)), nil
	}
	opening := ""
	if meta.Title == "" {
		opening = firstWords(rest)
	}
	return newInfo(e, meta, count, opening), nil
}

func newInfo(e entry, m *Meta, count int, opening string) Info {
	return Info{
		ID: e.id, Name: m.Name, Title: cmp.Or(m.Title, opening), Agent: m.Agent, Model: m.Model, Workdir: m.Workdir,
		Created: m.Created, Updated: e.updated, Messages: count, Size: e.size,
	}
}

// lastMeta finds the last meta record, looking back from the end of the file,
// and the number of messages.
func lastMeta(f io.ReaderAt, size int64) (*Meta, int, bool) {
	start := []byte(`{"kind":"` + kindMeta + `"`)
	for window := int64(tailSize); ; window *= 4 {
		tail := make([]byte, min(window, size))
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
			return nil, 0, false
		}
		for end := len(tail); end > 0; {
			begin := bytes.LastIndexByte(tail[:end-1], '\n') + 1
			if begin == 0 && int64(len(tail)) < size {
				break // Perhaps the middle of a line.
			}
			if bytes.HasPrefix(tail[begin:end], start) {
				var rec record
				if json.Unmarshal(tail[begin:end], &rec) == nil && rec.Meta != nil {
					return rec.Meta, rec.Count + countMessages(tail[end:]), true
				}
			}
			end = begin
		}
		if window >= tailLimit || int64(len(tail)) == size {
			return nil, 0, false
		}
	}
}

// countMessages counts the lines that hold a message.
func countMessages(lines []byte) int {
	start := []byte(`{"kind":"` + kindMessage + `"`)
	n := bytes.Count(lines, append([]byte("\n"), start...))
	if bytes.HasPrefix(lines, start) {
		n++
	}
	return n
}

// firstWords returns a title from the first message of the user in lines,
// which may end in the middle of one.
func firstWords(lines []byte) string {
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		var rec record
		if json.Unmarshal(line, &rec) != nil {
			return ""
		}
		messages := rec.Messages
		if rec.Message != nil {
			messages = []message.Message{*rec.Message}
		}
		if t := title(messages); t != "" {
			return t
		}
	}
	return ""
}

// title returns the first words the user said, at most 50 characters.
func title(messages []message.Message) string {
	for i := range messages {
		if !fromUser(&messages[i]) {
			continue
		}
		text, _, _ := strings.Cut(strings.TrimSpace(messages[i].Content), "\n")
		if utf8.RuneCountInString(text) > 50 {
			return string([]rune(text)[:49]) + "…"
		}
		return text
	}
	return ""
}

// Fork copies the first upTo messages of a session, all of them if upTo is 0
// or less, into a new one and returns its ID. The key is as for Resume. It
// works while another process writes to the session.
func (s *Store) Fork(key string, upTo int) (string, error) {
	state, _, err := s.Read(key)
	if err != nil {
		return "", err
	}
	meta := state.Meta
	meta.Created, meta.Name = time.Now(), "" // A name means one session.
	log := s.create(state.ID, meta)
	messages := state.Messages
	if upTo > 0 {
		messages = messages[:min(upTo, len(messages))]
	}
	log.pending = messages
	log.mu.Lock()
	err = log.open()
	if err == nil &&
		(!state.Open || len(messages) < len(state.Messages)) { // Else it would look as if the program had died in it.
		err = log.write(record{Kind: kindMeta, Count: log.count, Meta: &log.meta})
	}
	log.mu.Unlock()
	if err = errors.Join(err, log.Close()); err != nil {
		return "", err
	}
	return log.id, nil
}

// Delete removes a session that nobody is writing to, with everything that
// was kept aside of it. The key must be the ID or the name, not a part of it:
// what is deleted is gone.
func (s *Store) Delete(key string) error {
	e, err := s.find(key)
	if err != nil {
		return err
	}
	id := e.id
	if !strings.EqualFold(id, strings.TrimSpace(key)) {
		state, _, err := s.Read(id)
		if err != nil || !strings.EqualFold(state.Meta.Name, strings.TrimSpace(key)) {
			return fmt.Errorf("session %q: deleting needs the whole ID or name (did you mean %q?)", key, id)
		}
	}
	held, err := acquire(e.dir, id)
	if err != nil {
		return err
	}
	defer held.Release()
	damaged, err := filepath.Glob(globEscape(e.path()) + ".damaged-*")
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	for _, path := range append(damaged, e.path()) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("session %s cannot be deleted: %w", id, err)
		}
	}
	return nil
}

// globEscape quotes what filepath.Glob would take for a pattern.
func globEscape(path string) string {
	if filepath.Separator == '\\' {
		return path // No quoting on Windows, where "[" is rare and "*" is not allowed.
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
