package pyext

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// python is the other end of the wire, and what extensions import.
//
//go:embed python/agent/*.py python/agent/*/*.py python/agent/*/*/*.py
var python embed.FS

// Sources is the Python package `agent`.
func Sources() fs.FS {
	sub, err := fs.Sub(python, "python")
	if err != nil {
		panic(err)
	}
	return sub
}

// walkSources calls visit with every file of the package.
func walkSources(visit func(name string, data []byte) error) error {
	return fs.WalkDir(Sources(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".py") {
			return err
		}
		data, err := fs.ReadFile(Sources(), name)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

// digest names the version of the package by what is in it.
var digest = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = walkSources(func(name string, data []byte) error {
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		_, err := sum.Write(data)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16]
})

// unpack puts the package into the cache, once per version, and returns the
// directory to import it from. Python keeps its compiled form there.
func unpack(cache string) (string, error) {
	dir := filepath.Join(cache, "python-"+digest())
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	if ignore := filepath.Join(cache, ".gitignore"); !isFile(ignore) {
		_ = os.WriteFile(ignore, []byte("*\n"), 0o644) // The cache may be inside a project.
	}
	// Others may do the same right now: the complete directory appears at once.
	tmp, err := os.MkdirTemp(cache, "unpack-*")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	err = walkSources(func(name string, data []byte) error {
		file := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	})
	if err == nil {
		if err = os.Rename(tmp, dir); err != nil {
			if _, e := os.Stat(dir); e == nil {
				err = nil
			}
		}
	}
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return dir, nil
}
