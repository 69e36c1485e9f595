// Package history keeps what the user typed before, in a file that all faces share. It is not the
// history of a conversation.
package history

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/atomicfile"
)

const (
	maxEntries = 1000
	maxEntry   = 64 << 10 // Longer entries are not kept in the file.
	maxFile    = 8 << 20  // Only that much of the end of the file is read.
)

// List is what was typed before, kept in a file. One line of the file is one entry, with
// backslash and newline escaped. The file is a convenience: that it cannot be read or
// written is only logged.
type List struct {
	entries []string // Oldest first.
	path    string   // Empty: not kept.
	log     *slog.Logger
}

// Open reads the file; an empty path keeps the list in memory only. A nil log is none.
func Open(path string, log *slog.Logger) *List {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &List{path: path, log: log}
	if path == "" {
		return l
	}
	data, err := readTail(path)
	if err != nil {
		if !os.IsNotExist(err) {
			log.Debug("history cannot be read", "file", path, "error", err)
		}
		return l
	}
	count := 0
	for text := range strings.Lines(data) {
		count++
		l.remember(unescapeEntry(strings.TrimRight(text, "\r\n")))
	}
	if count > 2*maxEntries || len(data) == maxFile {
		l.rewrite()
	}
	return l
}

// readTail reads the end of a file, from the beginning of a line.
func readTail(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &os.PathError{Op: "read", Path: path, Err: os.ErrInvalid}
	}
	skip := info.Size() - maxFile
	if skip > 0 {
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			return "", err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if skip > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return string(data), err
}

// remember adds an entry in memory. It reports false for what is not worth it.
func (l *List) remember(entry string) bool {
	if strings.TrimSpace(entry) == "" || len(l.entries) > 0 && l.entries[len(l.entries)-1] == entry {
		return false
	}
	if len(l.entries) >= maxEntries {
		l.entries = slices.Delete(l.entries, 0, len(l.entries)-maxEntries+1)
	}
	l.entries = append(l.entries, entry)
	return true
}

// Entries lists what was typed, oldest first. It must not be changed.
func (l *List) Entries() []string { return l.entries }

// Add remembers an entry and appends it to the file. Blank entries and a repeated last one
// are left out.
func (l *List) Add(entry string) {
	if !l.remember(entry) || l.path == "" || len(entry) > maxEntry {
		return
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(escapeEntry(entry) + "\n")
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		l.log.Debug("history cannot be written", "file", l.path, "error", err)
	}
}

// rewrite shortens the file to what is remembered.
func (l *List) rewrite() {
	var b strings.Builder
	for _, e := range l.entries {
		if len(e) <= maxEntry {
			b.WriteString(escapeEntry(e))
			b.WriteByte('\n')
		}
	}
	if err := atomicfile.Write(l.path, []byte(b.String()), 0o600); err != nil {
		l.log.Debug("history cannot be shortened", "file", l.path, "error", err)
	}
}

func escapeEntry(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(s)
}

func unescapeEntry(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(strings.ToValidUTF8(s, "\ufffd"))
}
