package config

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed all:defaults
var defaultFiles embed.FS

// Init writes the built-in configuration into a home, which is created where needed. A
// file that exists is never touched. written and skipped are the paths of new files and of
// those that were there, in order.
func Init(dir string) (written, skipped []string, err error) {
	err = fs.WalkDir(defaultFiles, "defaults", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "defaults/")))
		src, err := defaultFiles.ReadFile(name)
		if err != nil {
			return err
		}
		switch err := create(path, src); {
		case errors.Is(err, fs.ErrExist):
			skipped = append(skipped, path)
		case err != nil:
			return fmt.Errorf("init: %w", err)
		default:
			written = append(written, path)
		}
		return nil
	})
	return written, skipped, err
}

// Ignore keeps git away from what aura writes into a home: it gets the .gitignore of
// Init, unless it has one.
func Ignore(home string) error {
	src, err := defaultFiles.ReadFile("defaults/.gitignore")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil { // As the sessions in it would make it.
		return fmt.Errorf("home: %w", err)
	}
	if err := create(filepath.Join(home, ".gitignore"), src); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("home: %w", err)
	}
	return nil
}

// create writes a new file and fails with fs.ErrExist when something is there already.
func create(path string, src []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(src)
	return errors.Join(err, file.Close())
}
