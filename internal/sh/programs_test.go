package sh_test

import (
	"slices"
	"testing"

	"github.com/idelchi/aura/internal/sh"
)

func TestPrograms(t *testing.T) {
	for script, want := range map[string][]string{
		"gofmt -w $FILE":                               {"gofmt"},
		"jq -r .x | missing-tool --a":                  {"jq", "missing-tool"},
		"FOO=1 lint \"$FILE\"":                         {"lint"},
		"echo hi; exit 2":                              nil,
		"set -e\nfirst\nsecond a b":                    {"first", "second"},
		"command -v x >/dev/null || exit 0\nx":         nil,
		"if command -v x; then x; fi\ny":               nil,
		"command -v x && x":                            nil,
		"f() { x; }\nf\ny":                             {"y"},
		"export PATH=/opt/bin:$PATH\nx":                nil,
		"PATH=/opt/bin x":                              nil,
		". ./env.sh\nx":                                nil,
		"cd sub\n./run":                                nil,
		"$CMD a":                                       nil,
		"./scripts/check.sh":                           {"./scripts/check.sh"},
		"read -r line; test -n \"$line\"; printf '%s'": nil,
		"": nil,
	} {
		got, err := sh.Programs(script)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", script, got, err, want)
		}
	}
	if _, err := sh.Programs("if"); err == nil {
		t.Error("a broken script has programs")
	}
}
