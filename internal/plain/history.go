package plain

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
	maxHistory      = 1000
	maxHistoryEntry = 64 << 10 // Longer entries are not kept in the file.
	maxHistoryFile  = 8 << 20  // Only that much of the end of the file is read.
)

// history is what was typed before, oldest first, kept in a file. One line of the
// file is one entry, with backslash and newline escaped. The file is a
// convenience: that it cannot be read or written is only logged.
type history struct {
	entries []string
	path    string // Empty: not kept.
	log     *slog.Logger
}

func openHistory(path string, log *slog.Logger) *history {
	h := &history{path: path, log: log}
	if path == "" {
		return h
	}
	data, err := readTail(path)
	if err != nil {
		if !os.IsNotExist(err) {
			log.Debug("history cannot be read", "file", path, "error", err)
		}
		return h
	}
	count := 0
	for text := range strings.Lines(data) {
		count++
		h.remember(unescapeEntry(strings.TrimRight(text, "\r\n")))
	}
	if count > 2*maxHistory || len(data) == maxHistoryFile {
		h.rewrite()
	}
	return h
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
	skip := info.Size() - maxHistoryFile
	if skip > 0 {
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			return "", err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxHistoryFile))
	if skip > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return string(data), err
}

// remember adds an entry in memory. It reports false for what is not worth it.
func (h *history) remember(entry string) bool {
	if strings.TrimSpace(entry) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	if len(h.entries) >= maxHistory {
		h.entries = slices.Delete(h.entries, 0, len(h.entries)-maxHistory+1)
	}
	h.entries = append(h.entries, entry)
	return true
}

// add remembers an entry and appends it to the file.
func (h *history) add(entry string) {
	if !h.remember(entry) || h.path == "" || len(entry) > maxHistoryEntry {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(escapeEntry(entry) + "\n")
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		h.log.Debug("history cannot be written", "file", h.path, "error", err)
	}
}

// rewrite shortens the file to what is remembered.
func (h *history) rewrite() {
	var b strings.Builder
	for _, e := range h.entries {
		if len(e) <= maxHistoryEntry {
			b.WriteString(escapeEntry(e))
			b.WriteByte('\n')
		}
	}
	if err := atomicfile.Write(h.path, []byte(b.String()), 0o600); err != nil {
		h.log.Debug("history cannot be shortened", "file", h.path, "error", err)
	}
}

func escapeEntry(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(s)
}

func unescapeEntry(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(strings.ToValidUTF8(s, "\ufffd"))
}
