package plugin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk/version"
)

// VN-15 VN-16 VN-17 VN-18 VN-19
func TestCompatible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plugin, host string
		ok           bool
	}{
		{"0.1.0", "0.1.0", true}, {"0.1.0", "0.1.5", true}, {"0.1.5", "0.1.0", false}, {"0.2.0", "0.1.9", false},
		{"0.1.0", "0.2.0", false},
		{"1.2.3", "1.2.4", true}, {"1.2.3", "1.3.0", false}, {"v0.1.0", "0.1.0", true}, {"nonsense", "0.1.0", false},
		{"", "0.1.0", false},
	} {
		if err := plugin.Compatible(c.plugin, c.host); (err == nil) != c.ok {
			t.Errorf("plugin %s on host %s: %v", c.plugin, c.host, err)
		}
	}
}

// VN-13 VN-14 VN-21 VN-24: the vendored version is checked when a plugin is loaded.
func TestVendoredSDK(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "my-plugin", "", "", speak(`"hello"`))
	vendored := func(text string) {
		writeFiles(
			t,
			filepath.Join(dir, "my-plugin"),
			map[string]string{"vendor/github.com/idelchi/aura/sdk/version/version.go": text},
		)
	}
	load(t, plugin.Options{Dirs: []string{dir}}) // Without vendor nothing is checked.

	vendored("package version\n\nconst Version = \"0.2.0\"\n")
	refused(
		t,
		plugin.Options{Dirs: []string{dir}},
		`plugin "my-plugin": plugin requires SDK ~0.2.0, host has `+version.Version,
	)

	vendored(
		"package version\n\nconst (\n\tminor = \"1\"\n\t// Version is made of parts.\n" +
			"\tVersion = \"0.\" + minor + \".0\"\n)\n",
	)
	s := load(t, plugin.Options{Dirs: []string{dir}})
	if got := s.Plugins()[0].SDK; got != "0.1.0" {
		t.Errorf("version %q", got)
	}
	for _, broken := range []string{"package version\n", "package version\n\nconst Version = 5\n", "not Go",
		"package version\n\nvar Version = func() string { panic(1) }()\n"} {
		vendored(broken)
		if _, err := plugin.Load(
			t.Context(),
			plugin.Options{Dirs: []string{dir}},
		); err == nil ||
			!strings.Contains(err.Error(), `plugin "my-plugin": `) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}
