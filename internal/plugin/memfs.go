package plugin

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memFS is a read-only file system in memory: directories by path, each with its
// entries sorted by name.
type memFS map[string][]*memFile

// add puts a file into the tree.
func (m memFS) add(name string, text []byte) {
	m.insert(&memFile{name: name, text: text})
}

func (m memFS) insert(f *memFile) {
	dir := path.Dir(f.name)
	i, found := slices.BinarySearchFunc(
		m[dir],
		f.name,
		func(e *memFile, name string) int { return strings.Compare(e.name, name) },
	)
	if found {
		return
	}
	if _, known := m[dir]; !known && dir != "." {
		m.insert(&memFile{name: dir, dir: true})
	}
	m[dir] = slices.Insert(m[dir], i, f)
}

// find returns the entry of a path.
func (m memFS) find(name string) (*memFile, bool) {
	if name == "." {
		return &memFile{name: ".", dir: true}, true
	}
	list := m[path.Dir(name)]
	i, ok := slices.BinarySearchFunc(
		list,
		name,
		func(e *memFile, name string) int { return strings.Compare(e.name, name) },
	)
	if !ok {
		return nil, false
	}
	return list[i], true
}

// Open implements fs.FS.
func (m memFS) Open(name string) (fs.File, error) {
	f, ok := m.find(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{memFile: f, Reader: bytes.NewReader(f.text)}, nil
}

// Stat implements fs.StatFS.
func (m memFS) Stat(name string) (fs.FileInfo, error) {
	f, ok := m.find(name)
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return f, nil
}

// ReadFile implements fs.ReadFileFS.
func (m memFS) ReadFile(name string) ([]byte, error) {
	f, ok := m.find(name)
	if !ok || f.dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return f.text, nil
}

// ReadDir implements fs.ReadDirFS.
func (m memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, ok := m.find(name)
	if !ok || !f.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	list := make([]fs.DirEntry, len(m[name]))
	for i, e := range m[name] {
		list[i] = fs.FileInfoToDirEntry(e)
	}
	return list, nil
}

// memFile is one entry; it is its own FileInfo.
type memFile struct {
	name string
	text []byte
	dir  bool
}

func (f *memFile) Name() string       { return path.Base(f.name) }
func (f *memFile) Size() int64        { return int64(len(f.text)) }
func (f *memFile) ModTime() time.Time { return time.Time{} }
func (f *memFile) IsDir() bool        { return f.dir }
func (f *memFile) Sys() any           { return nil }
func (f *memFile) Mode() fs.FileMode {
	if f.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// openFile is a memFile that is being read.
type openFile struct {
	*memFile
	io.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.memFile, nil }
func (f *openFile) Close() error               { return nil }
