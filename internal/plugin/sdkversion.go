package plugin

import (
	"errors"
	"fmt"
	"go/constant"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing/fstest"

	"golang.org/x/mod/semver"

	"github.com/idelchi/aura/sdk/version"
	"github.com/idelchi/aura/third_party/yaegi/interp"
)

// HostSDK is the version of the SDK that this program offers to plugins.
const HostSDK = version.Version

// checkSDK compares the SDK that a plugin has vendored with ours.
func checkSDK(dir string) (string, error) {
	v, err := SDKVersion(dir)
	if err != nil || v == "" {
		return v, err
	}
	return v, Compatible(v, HostSDK)
}

// SDKVersion reads the version of the SDK that the plugin in dir has vendored;
// empty if it has not vendored one.
func SDKVersion(dir string) (v string, err error) {
	file := filepath.Join("vendor", filepath.FromSlash(sdkPath), "version", "version.go")
	text, err := readFile(filepath.Join(dir, file), maxSource)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panic while reading it: %v", file, r)
		}
	}()
	i := interp.New(
		interp.Options{
			GoPath:               ".",
			SourcecodeFilesystem: fstest.MapFS{},
			Stdin:                strings.NewReader(""),
			Stdout:               io.Discard,
			Stderr:               io.Discard,
		},
	)
	if _, err := i.Eval(string(text)); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	value, err := i.Eval("version.Version")
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if c, ok := value.Interface().(constant.Value); ok && c.Kind() == constant.String {
		return constant.StringVal(c), nil
	}
	return value.String(), nil
}

// Compatible reports whether a plugin that was written for one version of the SDK
// runs with another: same minor version, at least the plugin's patch. The error
// says what is missing.
func Compatible(plugin, host string) error {
	want, have := "v"+strings.TrimPrefix(plugin, "v"), "v"+strings.TrimPrefix(host, "v")
	if !semver.IsValid(want) {
		return fmt.Errorf("the vendored SDK has the version %q, which is none", plugin)
	}
	if semver.MajorMinor(want) != semver.MajorMinor(have) || semver.Compare(have, want) < 0 {
		return fmt.Errorf(
			"plugin requires SDK ~%s, host has %s",
			strings.TrimPrefix(plugin, "v"),
			strings.TrimPrefix(host, "v"),
		)
	}
	return nil
}
