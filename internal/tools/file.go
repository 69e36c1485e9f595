package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/idelchi/aura/internal/wording"
)

// maxEdit bounds the files that Edit and Patch take into memory.
const maxEdit = 64 << 20

// maxLinks is how many symbolic links are followed, as by the kernel.
const maxLinks = 40

// explain turns an error of the file system into one for the model: the path as it
// was given, what is wrong, and where it can be, what was probably meant.
func explain(workdir, path string, err error) error {
	shown := display(workdir, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%s", shown, suggestion(workdir, path))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file, not a directory", shown)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s cannot be written: the file system is read-only", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", shown)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// suggestion names what is there instead of a path that is not.
func suggestion(workdir, path string) string {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
			if _, err := os.Stat(parent); err == nil {
				return fmt.Sprintf(" (nor does the directory %s)", display(workdir, dir))
			}
		}
		return ""
	}
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	names, _ := d.Readdirnames(5000)
	base := filepath.Base(path)
	if near := wording.Closest(base, names); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", display(workdir, filepath.Join(dir, near)))
	}
	// A right name with the wrong ending, or the ending forgotten.
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	for _, name := range names {
		if stem != "" && strings.EqualFold(strings.TrimSuffix(name, filepath.Ext(name)), stem) {
			return fmt.Sprintf(" (did you mean %s?)", display(workdir, filepath.Join(dir, name)))
		}
	}
	return ""
}

// regular refuses what cannot be read to an end: directories, pipes, devices.
func regular(workdir, path string, info fs.FileInfo) error {
	shown := display(workdir, path)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a directory: use Ls to list it", shown)
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe, not a file", shown)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, not a file", shown)
	default:
		return fmt.Errorf("%s is a device, not a file", shown)
	}
}

// openFor opens a file for reading until stop is called or ctx ends. That also ends a
// read that waits: some files of /proc never answer.
func openFor(ctx context.Context, path string) (f *os.File, stop func(), err error) {
	f, err = os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	forget := context.AfterFunc(ctx, func() { f.Close() })
	return f, func() { forget(); f.Close() }, nil
}

// load reads a whole file for an edit.
func load(workdir, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", explain(workdir, path, err)
	}
	if err := regular(workdir, path, info); err != nil {
		return "", err
	}
	if info.Size() > maxEdit {
		return "", fmt.Errorf(
			"%s is too large to edit: %s, at most %s",
			display(workdir, path),
			bytesText(info.Size()),
			bytesText(maxEdit),
		)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", explain(workdir, path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	if err != nil {
		return "", explain(workdir, path, err)
	}
	return string(data), nil
}

// save replaces the content of a file in one step: a reader sees the old content
// or the new, never half. A symbolic link stays one and its target is written;
// the mode of an existing file is kept. It reports whether the file is new.
func save(workdir, path, content string) (created bool, err error) {
	target, err := follow(path)
	if err != nil {
		return false, explain(workdir, path, err)
	}
	info, err := os.Stat(target)
	switch {
	case err == nil:
		if info.IsDir() {
			return false, fmt.Errorf("%s is a directory", display(workdir, path))
		}
		if err := regular(workdir, path, info); err != nil {
			return false, err
		}
	case errors.Is(err, fs.ErrNotExist):
		created, info = true, nil
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return false, explain(workdir, path, err)
		}
	default:
		return false, explain(workdir, path, err)
	}
	if err := replace(target, content, info); err != nil {
		return false, explain(workdir, path, err)
	}
	return created, nil
}

// replace writes through a temporary file beside the target. Where that would lose
// something (other hard links) or is impossible (the directory cannot be written, the file can),
// it writes into the file itself. info is nil for a new file.
func replace(target, content string, info fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if info != nil {
		// A rename does not care about the permissions of the file it replaces; we do.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		} else if errors.Is(err, fs.ErrPermission) {
			return err
		}
		mode = info.Mode().Perm()
		if hardLinks(info) {
			return inPlace(target, content)
		}
	}
	temp := filepath.Join(filepath.Dir(target), ".aura-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		if info != nil && errors.Is(err, fs.ErrPermission) {
			return inPlace(target, content)
		}
		return err
	}
	_, err = f.WriteString(content)
	if err == nil && info != nil {
		err = f.Chmod(info.Mode())
		keepOwner(f, info)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

func inPlace(target, content string) error {
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// follow is the path that writing to path would end at; it need not exist.
func follow(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many levels of symbolic links")}
}

// bytesText is a size for people.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, "KMGTPE"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %cB", value, names[0])
}

// directory checks that the root of a search can be walked.
func directory(workdir, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return explain(workdir, path, err)
	}
	if !info.IsDir() {
		return &notDirectory{display(workdir, path)}
	}
	return nil
}

type notDirectory struct{ path string }

func (e *notDirectory) Error() string { return e.path + " is a file, not a directory" }
