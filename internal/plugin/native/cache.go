package native

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What is kept of earlier builds.
const (
	keepFor   = 30 * 24 * time.Hour // Since the last use.
	keepCount = 64
)

// executable is the executable of the build in dir.
func executable(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "plugin.exe")
	}
	return filepath.Join(dir, "plugin")
}

// used reports whether there is an executable and, if so, notes that it is in use.
func used(dir, exe string) bool {
	info, err := os.Stat(exe)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if now := time.Now(); now.Sub(modified(dir)) > 24*time.Hour {
		_ = os.Chtimes(dir, now, now)
	}
	return true
}

func modified(file string) time.Time {
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// anyBuild finds the newest executable of a source, whatever toolchain built it.
func anyBuild(cache, content string) string {
	dirs, err := filepath.Glob(filepath.Join(cache, content+"-*"))
	if err != nil {
		return ""
	}
	slices.SortFunc(dirs, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, dir := range dirs {
		if exe := executable(dir); used(dir, exe) {
			return exe
		}
	}
	return ""
}

// prune removes what has not been used for long, and the oldest of what is too
// many. What is in use on a system that keeps it stays until the next time.
func prune(cache, except string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	type build struct {
		dir  string
		used time.Time
	}
	var builds []build
	for _, e := range entries {
		if dir := filepath.Join(cache, e.Name()); e.IsDir() && dir != except && !strings.HasPrefix(e.Name(), staging) {
			builds = append(builds, build{dir, modified(dir)})
		}
	}
	slices.SortFunc(
		builds,
		func(a, b build) int { return cmp.Or(b.used.Compare(a.used), strings.Compare(a.dir, b.dir)) },
	)
	for i, b := range builds {
		if i >= keepCount-1 || time.Since(b.used) > keepFor {
			_ = os.RemoveAll(b.dir)
			_ = os.Remove(b.dir + ".lock")
		}
	}
}
