package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/internal/plugin/manifest"
)

// maxManifest bounds what is read of a plugin.yaml.
const maxManifest = 1 << 20

// readManifest reads the plugin.yaml in dir.
func readManifest(dir string) (manifest.Manifest, error) {
	file := filepath.Join(dir, manifest.Name)
	text, err := readFile(file, maxManifest)
	if err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Parse(file, text)
}

// readFile reads a file of at most limit bytes.
func readFile(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", file)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: %d bytes are more than the allowed %d", file, info.Size(), limit)
	}
	text, err := os.ReadFile(file)
	if err == nil && int64(len(text)) > limit {
		err = errors.New(file + ": grew while it was read")
	}
	return text, err
}
