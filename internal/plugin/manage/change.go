package manage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// change is one change of what is installed in a home. New content is made in a
// directory beside its target, so that it arrives there by a rename; until then, and
// if anything fails, the home stays as it was. Only one process at a time changes a
// home.
type change struct {
	m       *Manager
	home    Home
	root    string // The plugins directory.
	work    string
	lock    *Lock
	guard   *flock.Flock
	created []string // Directories that this change made, the outermost first.
}

// begin starts a change. What a killed process left behind is put right first.
func (m *Manager) begin(ctx context.Context, home Home) (_ *change, err error) {
	c := &change{m: m, home: home, root: home.Plugins}
	c.work = filepath.Join(c.root, workName)
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	if err := c.recover(); err != nil {
		return nil, fmt.Errorf("cannot put right what an interrupted change left behind: %w", err)
	}
	if c.lock, err = readLock(home.Dir); err != nil {
		return nil, err
	}
	return c, os.Mkdir(c.work, 0o755)
}

// mkdirs makes a directory and remembers which of its parents are new.
func (c *change) mkdirs(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(d) == d {
			break
		}
		missing = append([]string{d}, missing...)
	}
	c.created = append(c.created, missing...)
	return os.MkdirAll(dir, 0o755)
}

// acquire waits until no other process changes the home.
func (c *change) acquire(ctx context.Context) error {
	file := filepath.Join(c.root, ".lock")
	for said := false; ; {
		// Whoever had the lock may have removed the directory, too.
		if err := errors.Join(c.mkdirs(c.home.Dir), c.mkdirs(c.root)); err != nil {
			return err
		}
		guard := flock.New(file)
		ok, err := guard.TryLock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", c.root, err)
		}
		if ok {
			// The holder before us removes the file: what we locked must still be what
			// others will find.
			mine, err := guard.Stat()
			if now, errNow := os.Stat(file); err == nil && errNow == nil && os.SameFile(mine, now) {
				c.guard = guard
				return nil
			}
			guard.Close()
			continue
		}
		guard.Close()
		if !said {
			c.m.say("waiting for another aura that changes %s", c.root)
			said = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Files in the work directory. old is what a new installation replaces; target says
// where it belongs.
const (
	oldName    = "old"
	targetName = "target"
)

// recover puts back what a killed process had moved away, and removes the rest.
func (c *change) recover() error {
	old := filepath.Join(c.work, oldName)
	if rel, err := os.ReadFile(filepath.Join(c.work, targetName)); err == nil {
		local := filepath.FromSlash(strings.TrimSpace(string(rel)))
		target := filepath.Join(c.root, local)
		_, errOld := os.Lstat(old)
		_, errTarget := os.Lstat(target)
		if filepath.IsLocal(local) && errOld == nil && errors.Is(errTarget, fs.ErrNotExist) {
			if err := os.Rename(old, target); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(c.work)
}

// end removes whatever was not committed and lets others work.
func (c *change) end() {
	if c.guard != nil {
		os.RemoveAll(c.work)
		os.Remove(c.guard.Path())
		c.guard.Close()
		os.Remove(c.guard.Path()) // Where an open file cannot be removed.
	}
	for i := len(c.created) - 1; i >= 0; i-- {
		os.Remove(c.created[i]) // Fails if something is in it, as it should.
	}
}

// stage returns a new path for an installation with this name.
func (c *change) stage(name string) (string, error) {
	dir := filepath.Join(c.work, "new")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), os.Mkdir(dir, 0o755)
}

// install puts a staged directory in its place, where it replaces what is there,
// and records it. If that fails, everything is as before.
func (c *change) install(staged, rel string, entry *Entry) (failed error) {
	target := filepath.Join(c.root, filepath.FromSlash(rel))
	old := filepath.Join(c.work, oldName)
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := c.mkdirs(filepath.Dir(target)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.work, targetName), []byte(rel+"\n"), 0o644); err != nil {
		return err
	}
	if err := c.m.inject("swap"); err != nil {
		return err
	}
	switch err := os.Rename(target, old); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		defer func() {
			if failed != nil {
				failed = errors.Join(failed, os.Rename(old, target))
			}
		}()
	}
	if err := c.m.inject("place"); err != nil {
		return err
	}
	if err := os.Rename(staged, target); err != nil {
		return err
	}
	if err := c.record(rel, entry); err != nil {
		return errors.Join(err, os.Rename(target, staged))
	}
	return os.RemoveAll(old)
}

// record sets an entry of the lock file; nil removes it.
func (c *change) record(rel string, entry *Entry) error {
	if err := c.m.inject("record"); err != nil {
		return err
	}
	before, had := c.lock.Plugins[rel]
	if entry != nil {
		c.lock.Plugins[rel] = entry
	} else {
		delete(c.lock.Plugins, rel)
	}
	if err := c.lock.write(c.home.Dir); err != nil {
		if delete(c.lock.Plugins, rel); had {
			c.lock.Plugins[rel] = before
		}
		return fmt.Errorf("%s: %w", lockName, err)
	}
	return nil
}

// remove takes an installation away.
func (c *change) remove(rel string) error {
	target, old := filepath.Join(c.root, filepath.FromSlash(rel)), filepath.Join(c.work, oldName)
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.record(rel, nil); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	return os.RemoveAll(old)
}
