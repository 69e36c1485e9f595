// Package atomicfile replaces files in one step: a reader sees the old content or the new,
// never half. It follows no links and keeps neither owner nor mode of the old file.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes data the content of the file at path, whose directory must exist. The file
// has the given mode. The content is on disk before it gets its name; after an error the
// old file is as it was.
func Write(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, (*os.File).Sync)
}

// WriteCache is Write for what can be made again: it does not wait for the disk, and after
// a crash of the machine the file may be damaged.
func WriteCache(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, func(*os.File) error { return nil })
}

func write(path string, data []byte, mode fs.FileMode, sync func(*os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), sync(temp), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
