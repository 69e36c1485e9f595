package manage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
)

// Origin is where an installation came from: the file .origin.yaml in its
// directory. It never holds credentials.
type Origin struct {
	URL     string `yaml:"url" json:"url"`
	Ref     string `yaml:"ref,omitempty" json:"ref,omitempty"` // Tag, branch or commit that was asked for; empty is the default branch.
	Commit  string `yaml:"commit" json:"commit"`
	Subpath string `yaml:"subpath,omitempty" json:"subpath,omitempty"` // Only plugins below it count.
}

// String is the origin as lists show it: host and path, then the ref or else the
// short commit.
func (o *Origin) String() string {
	ref := o.Ref
	if ref == "" {
		ref = short(o.Commit)
	}
	return displayURL(o.URL) + "@" + ref
}

func short(commit string) string { return commit[:min(12, len(commit))] }

// maxRecord bounds what is read of an origin or a lock file.
const maxRecord = 1 << 20

// readOrigin reads the origin of an installation; nil means that there is none.
func readOrigin(dir string) (*Origin, error) {
	file := filepath.Join(dir, originName)
	text, err := readRecord(file)
	if text == nil || err != nil {
		return nil, err
	}
	var o Origin
	if err := strictyaml.Decode(file, 1, text, &o); err != nil {
		return nil, err
	}
	if o.URL == "" || o.Commit == "" {
		return nil, fmt.Errorf("%s: url and commit are required", file)
	}
	if o.Subpath, err = cleanSubpath(o.Subpath); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &o, nil
}

func writeOrigin(dir string, o *Origin) error {
	text, err := marshal(o)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, originName), text, 0o644)
}

// readRecord reads a small file; nil without error means that it does not exist.
func readRecord(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", file)
	case info.Size() > maxRecord:
		return nil, fmt.Errorf("%s: %d bytes are too many", file, info.Size())
	}
	text, err := os.ReadFile(file)
	if text == nil {
		text = []byte{}
	}
	return text, err
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(v), enc.Close())
	return b.Bytes(), err
}
