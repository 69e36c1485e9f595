package manage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// copyTree copies a directory. Git's own files, the record of an earlier
// installation and the directories in skip are left out. A link is copied as a link, and
// refused if it leads out.
func copyTree(from, to string, skip ...string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.Name() == ".git" || slices.Contains(skip, file):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Name() == originName:
			return nil
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			return copyLink(from, file, target)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", file)
		}
		return copyFile(file, target)
	})
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

func copyLink(root, link, to string) error {
	target, err := os.Readlink(link)
	if err != nil {
		return err
	}
	if err := checkLink(root, link, target); err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// checkLink refuses a link that leads out of root.
func checkLink(root, link, target string) error {
	rel, err := filepath.Rel(root, filepath.Join(filepath.Dir(link), target))
	if filepath.IsAbs(target) || err != nil || !filepath.IsLocal(rel) {
		name, _ := filepath.Rel(root, link)
		return fmt.Errorf("%s is a link that leads out of the plugin, to %s", filepath.ToSlash(name), target)
	}
	return nil
}

// checkTree refuses a clone with links that lead out of it, or with an origin file
// that is not ours.
func checkTree(root string) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return checkLink(root, file, target)
		case d.Name() == originName:
			return os.Remove(file)
		}
		return nil
	})
}

// inside reports whether file is dir or below it.
func inside(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}
