package manage

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// hashTree is the content hash of an installation, in the format of go.sum. It is
// the same wherever the same commit is installed, so it leaves out what depends on
// the machine or is a user's own switch: git's files, the origin, the copy of the
// SDK (which is never run), go.sum, and `disabled` in plugin.yaml.
func hashTree(dir string) (string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || strings.HasSuffix("/"+rel, "/vendor/"+sdkPath)):
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git" || rel == originName || d.Name() == "go.sum" || strings.HasSuffix("/"+rel, "/vendor/modules.txt"):
			return nil
		}
		names = append(names, rel)
		return nil
	})
	if err != nil {
		return "", err
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(file)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(file)
			return io.NopCloser(strings.NewReader("link " + target)), err
		}
		skip := unhashed[path.Base(name)]
		if skip == nil || !info.Mode().IsRegular() {
			return os.Open(file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(without(text, skip))), nil
	})
}

// unhashed are the lines that do not count, by file name. The go line and that of the
// SDK follow the host: `go mod tidy` raises the one to what the other asks for.
var unhashed = map[string]func(line string) bool{
	manifestName: func(line string) bool { return strings.HasPrefix(line, "disabled:") },
	"go.mod": func(line string) bool {
		return strings.HasPrefix(line, "go ") || strings.HasPrefix(line, "toolchain ") ||
			strings.Contains(line, sdkPath) ||
			strings.TrimSpace(line) == ""
	},
}

// without drops lines, and the ends of lines with them.
func without(text []byte, skip func(line string) bool) []byte {
	var out []byte
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if !skip(line) {
			out = append(append(out, line...), '\n')
		}
	}
	return out
}
