package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What has not been used for long goes, and the oldest of what is too many.
func TestPrune(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	made := func(name string, age time.Duration) string {
		dir := filepath.Join(cache, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{executable(dir), dir + ".lock"} {
			if err := os.WriteFile(file, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	current, old, running := made("current", 2*keepFor), made("old", keepFor+time.Hour), made(staging+"1", 2*keepFor)
	var many []string
	for i := range keepCount + 1 {
		many = append(many, made(fmt.Sprintf("%03d-x", i), time.Duration(i)*time.Hour))
	}
	// One that is used is young again.
	back := made("back", keepFor+time.Hour)
	if !used(back, executable(back)) || anyBuild(cache, "000") != executable(many[0]) || anyBuild(cache, "none") != "" {
		t.Error("an executable is not found")
	}
	prune(cache, current)
	for dir, want := range map[string]bool{current: true, old: false, running: true, back: true, many[0]: true,
		many[keepCount-3]: true, many[keepCount-2]: false, many[keepCount]: false} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
		if _, err := os.Stat(dir + ".lock"); (err == nil) != want {
			t.Errorf("%s.lock: %v", filepath.Base(dir), err)
		}
	}
}

// The plugin's end of the pipe is built into plugins, on every system; only aura's is not.
func TestPipeSource(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("pipe/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		_, err := pipeSource.Open(filepath.ToSlash(name))
		ours := strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "client.go"
		if ours != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
