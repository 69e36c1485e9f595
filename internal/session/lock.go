package session

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/idelchi/aura/internal/lockfile"
)

// acquire keeps other processes from writing to a session, or says who has it. The
// lock is a file beside the session, because Windows would not let anybody read a
// locked one.
func acquire(dir, id string) (*lockfile.Lock, error) {
	lock, err := lockfile.Acquire(filepath.Join(dir, id+".lock"))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, &InUseError{ID: id}
	}
	if err != nil {
		return nil, cannotWrite(dir, id, err)
	}
	return lock, nil
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
