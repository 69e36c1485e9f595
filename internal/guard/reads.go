package guard

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ReadBefore says which operations need the file to have been read first.
type ReadBefore struct{ Write, Delete bool }

// Reads remembers which files the model has seen, and in which state. The zero
// value is ready for use; a Reads may be used by several goroutines.
type Reads struct {
	mu   sync.Mutex
	seen map[string]stamp
}

// stamp tells whether a file is still the one that was read.
type stamp struct {
	size     int64
	modified time.Time
}

// Record notes that the model has seen the content of a file. A file that does
// not exist is not noted.
func (r *Reads) Record(path string) {
	s, ok := look(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		delete(r.seen, real(path))
		return
	}
	if r.seen == nil {
		r.seen = map[string]stamp{}
	}
	r.seen[real(path)] = s
}

// Clear forgets that a file was seen.
func (r *Reads) Clear(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, real(path))
	delete(r.seen, path)
}

// Stale says why the model does not know the content of a file; empty if it does,
// or if there is no such file.
func (r *Reads) Stale(path string) string {
	now, ok := look(path)
	if !ok {
		return ""
	}
	r.mu.Lock()
	then, seen := r.seen[real(path)]
	r.mu.Unlock()
	switch {
	case !seen:
		return "has not been read in this session"
	case then.size != now.size || !then.modified.Equal(now.modified):
		return "has changed since it was read"
	}
	return ""
}

// look takes the stamp of a regular file.
func look(path string) (stamp, bool) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return stamp{}, false
	}
	return stamp{info.Size(), info.ModTime()}, true
}

// real follows links, so that a file is one file under all its names. Of a path
// that does not exist yet, the part that does is followed.
func real(path string) string {
	rest, hops := "", 0
	for dir := path; ; {
		if p, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(p, rest)
		}
		// A link that leads nowhere yet is where something new would appear.
		if to, err := os.Readlink(dir); err == nil && hops < 40 {
			if hops++; !filepath.IsAbs(to) {
				to = filepath.Join(real(filepath.Dir(dir)), to)
			}
			dir = filepath.Clean(to)
			continue
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}

// ReadSwitches are what a user changed about read-before-write while a session
// runs. A nil switch leaves it to the configuration. It belongs to one goroutine.
type ReadSwitches struct{ Write, Delete *bool }

// Effective is Apply in plain values.
func (s *ReadSwitches) Effective(write, del bool) (bool, bool) {
	r := s.Apply(ReadBefore{write, del})
	return r.Write, r.Delete
}

// Override sets the switches that are not nil.
func (s *ReadSwitches) Override(write, del *bool) {
	if write != nil {
		s.Write = write
	}
	if del != nil {
		s.Delete = del
	}
}

// Apply returns the rule with the switches laid over it.
func (s *ReadSwitches) Apply(r ReadBefore) ReadBefore {
	if s.Write != nil {
		r.Write = *s.Write
	}
	if s.Delete != nil {
		r.Delete = *s.Delete
	}
	return r
}

// Files lists the files that have been seen, for the session's log.
func (r *Reads) Files() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.seen))
}

// Restore notes files that were seen in an earlier run, unless they changed after
// it ended.
func (r *Reads) Restore(files []string, end time.Time) {
	for _, path := range files {
		if s, ok := look(path); ok && !s.modified.After(end) {
			r.Record(path)
		}
	}
}
