package sdk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/sdk"
)

// The embedded source is the SDK, all of it, and nothing else.
func TestSource(t *testing.T) {
	t.Parallel()
	var want []string
	for _, pattern := range []string{"*.go", "version/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, files...)
	}
	want = slices.DeleteFunc(want, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var got []string
	err := fs.WalkDir(sdk.Source(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		got = append(got, name)
		have, err := fs.ReadFile(sdk.Source(), name)
		if err != nil {
			return err
		}
		disk, err := os.ReadFile(filepath.FromSlash(name))
		if err == nil && string(have) != string(disk) {
			t.Errorf("%s differs from the file", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i] = filepath.ToSlash(want[i])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("embedded %v, want %v: mend the list in source.go", got, want)
	}
	if mod, err := os.ReadFile("go.mod"); err != nil || string(mod) != sdk.GoMod() {
		t.Errorf("GoMod is not go.mod: %q, %v", mod, err)
	}
}
