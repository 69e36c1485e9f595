package session

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lock keeps other processes from writing to a session. It is a file beside
// the session, because Windows would not let anybody read a locked one.
type lock struct{ file *flock.Flock }

// acquire locks a session, or says who has it.
func acquire(dir, id string) (*lock, error) {
	path := filepath.Join(dir, id+".lock")
	for start := time.Now(); ; {
		f := flock.New(path, flock.SetPermissions(0o600))
		ok, err := f.TryLock()
		if err != nil {
			return nil, cannotWrite(dir, id, err)
		}
		if !ok {
			_ = f.Close()
			if time.Since(start) > grace {
				return nil, &InUseError{ID: id}
			}
			time.Sleep(5 * time.Millisecond)
			continue
		}
		// The holder before us removes the file: what we locked must still be
		// what others will find.
		mine, err1 := f.Stat()
		current, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, current) {
			return &lock{f}, nil
		}
		_ = f.Close()
		if time.Since(start) > grace {
			return nil, &InUseError{ID: id}
		}
	}
}

// grace is how long a lock may outlive its holder: one that is killed while it
// starts a program leaves an unfinished copy of itself for an instant, and the lock
// with it.
const grace = 250 * time.Millisecond

// release unlocks the session.
func (l *lock) release() {
	// Removed while it is held, so that nobody can lock the file we remove.
	// Windows refuses that; there the file is removed afterwards.
	err := os.Remove(l.file.Path())
	_ = l.file.Close()
	if err != nil {
		_ = os.Remove(l.file.Path())
	}
}

// InUseError says that another process writes to the session.
type InUseError struct{ ID string }

func (e *InUseError) Error() string {
	return fmt.Sprintf(
		"session %s is in use by another process (close it there, or work on a copy: aura sessions fork %s)",
		e.ID,
		e.ID,
	)
}
