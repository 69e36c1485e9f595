// Package lockfile keeps processes apart with a file that exists while it is locked.
package lockfile

import (
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process, or another part of this one, holds the lock.
var ErrHeld = errors.New("lock is held by another process")

// Lock is a held lock.
type Lock struct{ file *flock.Flock }

// grace is how long a lock may outlive its holder: one that is killed while it
// starts a program leaves an unfinished copy of itself for an instant, and the lock
// with it.
const grace = 250 * time.Millisecond

// Acquire locks the file at path, which it creates. A lock that is held is ErrHeld.
func Acquire(path string) (*Lock, error) {
	for start := time.Now(); ; {
		f := flock.New(path, flock.SetPermissions(0o600))
		ok, err := f.TryLock()
		if err != nil {
			return nil, err
		}
		if !ok {
			_ = f.Close()
			if time.Since(start) > grace {
				return nil, ErrHeld
			}
			time.Sleep(5 * time.Millisecond)
			continue
		}
		// The holder before us removes the file: what we locked must still be
		// what others will find.
		mine, err1 := f.Stat()
		current, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, current) {
			return &Lock{f}, nil
		}
		_ = f.Close()
		if time.Since(start) > grace {
			return nil, ErrHeld
		}
	}
}

// Release unlocks and removes the file.
func (l *Lock) Release() {
	// Removed while it is held, so that nobody can lock the file we remove.
	// Windows refuses that; there the file is removed afterwards.
	err := os.Remove(l.file.Path())
	_ = l.file.Close()
	if err != nil {
		_ = os.Remove(l.file.Path())
	}
}
