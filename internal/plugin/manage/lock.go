package manage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/atomicfile"
	"github.com/idelchi/aura/internal/strictyaml"
)

// Lock is the file plugins.lock of a home: what is installed, by path below the
// plugins directory.
type Lock struct {
	Version int               `yaml:"version"`
	Plugins map[string]*Entry `yaml:"plugins"`
}

// Entry is one installation.
type Entry struct {
	URL      string `yaml:"url,omitempty" json:"url,omitempty"` // Empty for a directory that was copied.
	Ref      string `yaml:"ref,omitempty" json:"ref,omitempty"`
	Commit   string `yaml:"commit,omitempty" json:"commit,omitempty"`
	Subpath  string `yaml:"subpath,omitempty" json:"subpath,omitempty"`
	NoVendor bool   `yaml:"no_vendor,omitempty" json:"no_vendor,omitempty"` // Installed with --no-vendor.
	Hash     string `yaml:"hash" json:"hash"`                               // See hashTree.
}

// lockVersion is the format that is written.
const lockVersion = 1

const lockHeader = `# Written by "aura plugins". Keep it under version control; "aura plugins sync" installs what it lists.
`

// readLock reads the lock file of a home. One that does not exist is empty.
func readLock(home string) (*Lock, error) {
	l := &Lock{Version: lockVersion}
	file := filepath.Join(home, lockName)
	text, err := readRecord(file)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if err := strictyaml.Decode(file, 1, text, l); err != nil {
			return nil, err
		}
	}
	if l.Version != lockVersion {
		return nil, fmt.Errorf(
			"%s: version %d is not %d: it was written by another version of aura",
			file,
			l.Version,
			lockVersion,
		)
	}
	if l.Plugins == nil {
		l.Plugins = map[string]*Entry{}
	}
	for rel, e := range l.Plugins {
		if e == nil || e.Hash == "" || e.URL != "" && e.Commit == "" {
			return nil, fmt.Errorf("%s: %s: hash, and for a url also commit, are required", file, rel)
		}
		if !filepath.IsLocal(filepath.FromSlash(rel)) || rel == "." || strings.HasPrefix(rel, ".") ||
			strings.Contains(rel, "/.") {
			return nil, fmt.Errorf("%s: %q is not a path of a plugin", file, rel)
		}
		if e.Subpath, err = cleanSubpath(e.Subpath); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, rel, err)
		}
	}
	return l, nil
}

// write replaces the lock file. An empty one is removed.
func (l *Lock) write(home string) error {
	file := filepath.Join(home, lockName)
	if len(l.Plugins) == 0 {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	text, err := marshal(l)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, append([]byte(lockHeader), text...), 0o644)
}

// origin is what .origin.yaml says of an entry.
func (e *Entry) origin() *Origin {
	if e.URL == "" {
		return nil
	}
	return &Origin{URL: e.URL, Ref: e.Ref, Commit: e.Commit, Subpath: e.Subpath}
}
