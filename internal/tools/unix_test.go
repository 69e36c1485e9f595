//go:build unix

package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nothing that is not a file can hold a tool up.
func TestSpecialFiles(t *testing.T) {
	dir := tree(t, map[string]string{"f": "needle\n", "loop/": ""})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Symlink(filepath.Join(dir, "pipe"), filepath.Join(dir, "to-pipe")))
	must(t, os.Symlink("..", filepath.Join(dir, "loop", "up")))
	must(t, os.Symlink("self", filepath.Join(dir, "self")))
	bad(t, "Read", dir, args{"path": "pipe"}, "pipe is a named pipe")
	bad(t, "Read", dir, args{"path": "to-pipe"}, "named pipe")
	bad(t, "Read", dir, args{"path": "/dev/zero"}, "is a device")
	bad(t, "Read", dir, args{"path": "self"}, "self")
	bad(t, "Write", dir, args{"path": "pipe", "content": "x"}, "named pipe")
	bad(t, "Write", dir, args{"path": "self", "content": "x"}, "symbolic links")
	bad(t, "Edit", dir, args{"file_path": "pipe", "old_string": "x", "new_string": "y"}, "named pipe")
	bad(t, "Rg", dir, args{"pattern": "x", "path": "pipe"}, "named pipe")
	bad(t, "Patch", dir, args{"patch": "*** Begin Patch\n*** Delete File: pipe\n*** End Patch"}, "named pipe")
	equal(t, good(t, "Rg", dir, args{"pattern": "needle"}), "f:1:needle\n")
	equal(t, good(t, "Glob", dir, args{"pattern": "**/f"}), "f")
	contains(t, good(t, "Ls", dir, args{"depth": 3.0}), "loop/\n  up -> ..\n", "pipe  (special file)")
}

func TestModes(t *testing.T) {
	dir := tree(t, map[string]string{"script": "a\n", "target": "a\n", "one": "a\n"})
	mode := func(name string) os.FileMode {
		t.Helper()
		info, err := os.Lstat(filepath.Join(dir, name))
		must(t, err)
		return info.Mode()
	}
	must(t, os.Chmod(filepath.Join(dir, "script"), 0o751))
	must(t, os.Symlink("target", filepath.Join(dir, "link")))
	must(t, os.Symlink("sub/made", filepath.Join(dir, "dangling")))
	must(t, os.Link(filepath.Join(dir, "one"), filepath.Join(dir, "two")))

	good(t, "Write", dir, args{"path": "script", "content": "b\n"})
	good(t, "Edit", dir, args{"file_path": "script", "old_string": "b", "new_string": "c"})
	if got := mode("script"); got != 0o751 {
		t.Errorf("mode %v", got)
	}
	good(t, "Write", dir, args{"path": "link", "content": "b\n"})
	good(t, "Write", dir, args{"path": "dangling", "content": "b\n"})
	if mode("link")&os.ModeSymlink == 0 || mode("dangling")&os.ModeSymlink == 0 {
		t.Error("a link was replaced")
	}
	equal(t, content(t, dir, "target"), "b\n")
	equal(t, content(t, dir, "sub/made"), "b\n")
	good(t, "Write", dir, args{"path": "one", "content": "b\n"})
	equal(t, content(t, dir, "two"), "b\n")
	good(
		t,
		"Patch",
		dir,
		args{"patch": "*** Begin Patch\n*** Update File: script\n*** Move to: bin/run\n-c\n+d\n*** End Patch"},
	)
	if got := mode("bin/run"); got != 0o751 {
		t.Errorf("mode after a move %v", got)
	}
}

func TestReadOnly(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EROFS:  "a/f cannot be written: the file system is read-only",
		syscall.EACCES: "a/f: permission denied",
		syscall.ENOSPC: "a/f: no space left on device",
	} {
		equal(t, explain("/w", "/w/a/f", &fs.PathError{Op: "open", Path: "/w/a/f", Err: err}).Error(), want)
	}
	if os.Getuid() == 0 {
		return // Root may write everywhere.
	}
	dir := tree(t, map[string]string{"ro/f": "a\n", "file": "a\n"})
	must(t, os.Chmod(filepath.Join(dir, "file"), 0o444))
	must(t, os.Chmod(filepath.Join(dir, "ro"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "ro"), 0o755) })
	bad(t, "Write", dir, args{"path": "ro/new", "content": "x"}, "ro/new: permission denied")
	bad(t, "Write", dir, args{"path": "file", "content": "x"}, "file: permission denied")
	bad(
		t,
		"Patch",
		dir,
		args{"patch": "*** Begin Patch\n*** Update File: ro/f\n-a\n+b\n*** Add File: ro/new\n+x\n*** End Patch"},
		"nothing was changed",
	)
	equal(t, content(t, dir, "ro/f"), "a\n")
	good(t, "Write", dir, args{"path": "ro/f", "content": "b\n"})
	equal(t, content(t, dir, "ro/f"), "b\n")
}
