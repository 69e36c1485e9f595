package wording_test

import (
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/wording"
)

func TestClosest(t *testing.T) {
	list := []string{"max_steps", "mode", "Model", "compaction", "tools"}
	for name, want := range map[string]string{
		"max_stepz": "max_steps", "MAX_STEPS": "max_steps", "max_setps": "max_steps", "mdoe": "mode", "model": "Model",
		"comp": "compaction", "tool": "tools", "zzz": "", "": "", "x": "", "modx": "mode",
		strings.Repeat("m", 1000): "", "tö": "",
	} {
		if got := wording.Closest(name, list); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
