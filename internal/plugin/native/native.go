// Package native makes a program of a plugin and runs it: the Go toolchain builds
// the same source that the interpreter would read into an executable that is kept,
// and calls go through pipes. It is no sandbox, and what the plugin's functions are
// for is not its business.
package native

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/idelchi/aura/sdk"
)

// BuildTimeout bounds one build. The first one on a machine compiles the standard
// library.
const BuildTimeout = 5 * time.Minute

// protocol changes whenever executables that were built before cannot be used any
// more for another reason than their source.
const protocol = "2"

// pipeSource is the plugin's end of the pipe.
//
//go:embed pipe/any.go pipe/call.go pipe/codec.go pipe/frame.go pipe/primitive.go pipe/serve.go
//go:embed pipe/files_unix.go pipe/files_windows.go
var pipeSource embed.FS

// ErrNoToolchain means that there is no Go toolchain to build with.
var ErrNoToolchain = errors.New("no Go toolchain on the PATH")

// Source is the plugin to build.
type Source struct {
	Dir    string
	Module string // Its module path.
	Unsafe bool   // Allow what reaches beyond the process.

	Functions []string // Names of the functions that it may export; sorted.
}

// Builder builds plugins and keeps what it has built.
type Builder struct {
	Cache    string // Directory; empty: aura/plugins in the user's cache directory.
	Logger   *slog.Logger
	Building func() // Called before a build, which takes its time; may be nil.
}

// Executable returns the executable of a plugin. It is built if there is none yet for
// exactly this source, SDK and toolchain. check is called before a build, with the
// files that take part; its error is returned.
func (b Builder) Executable(ctx context.Context, src Source, check func(*Tree) error) (string, error) {
	cache, err := b.cache()
	if err != nil {
		return "", err
	}
	tree, err := ReadTree(src.Dir)
	if err != nil {
		return "", err
	}
	content := key(src, tree)
	tools, err := findToolchain()
	if err != nil {
		if exe := anyBuild(cache, content); exe != "" {
			return exe, nil // Built by a toolchain that has gone since.
		}
		return "", err
	}
	dir := filepath.Join(cache, content+"-"+tools.key())
	exe := executable(dir)
	if used(dir, exe) {
		return exe, nil
	}
	if err := check(tree); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, BuildTimeout)
	defer cancel()
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if used(dir, exe) {
		return exe, nil // Another aura was faster.
	}
	if b.Building != nil {
		b.Building()
	}
	start := time.Now()
	if err := b.build(ctx, tools, src, tree, dir); err != nil {
		return "", err
	}
	b.Logger.Info("plugin built", "dir", src.Dir, "duration", time.Since(start), "executable", exe)
	prune(cache, dir)
	return exe, nil
}

func (b Builder) cache() (string, error) {
	if b.Cache != "" {
		return b.Cache, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the executables of plugins: %w", err)
	}
	return filepath.Join(dir, "aura", "plugins"), nil
}

// key identifies what a build depends on, apart from the toolchain.
func key(src Source, t *Tree) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %v %q\n", protocol, src.Module, src.Unsafe, src.Functions)
	add := func(name string, text []byte) { fmt.Fprintf(h, "%q %d %x\n", name, len(text), sha256.Sum256(text)) }
	for _, f := range t.Files {
		add(f.Name, f.Text)
	}
	for _, embedded := range []fs.FS{sdk.Source(), pipeSource} {
		_ = eachFile(embedded, func(name string, text []byte) error { add(name, text); return nil })
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// eachFile calls do with every file of an embedded tree.
func eachFile(files fs.FS, do func(name string, text []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return do(name, text)
	})
}

// lock waits for the right to build into a directory.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	l := flock.New(file)
	if ok, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("another aura builds the plugin: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

// toolchain is a Go toolchain.
type toolchain struct {
	path    string // Of the go command.
	version string // As in "go1.26.1"; empty if unknown.
	id      string // Changes with the toolchain.
}

// findToolchain looks for a toolchain without running it.
func findToolchain() (toolchain, error) {
	name, err := exec.LookPath("go")
	if err != nil {
		return toolchain{}, ErrNoToolchain
	}
	t := toolchain{path: name}
	if t.path, err = filepath.Abs(name); err != nil {
		return t, err
	}
	real, err := filepath.EvalSymlinks(t.path)
	if err != nil {
		return t, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(real)), "VERSION"))
	if err == nil {
		t.version, _, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
		t.id = string(text)
		return t, nil
	}
	// A wrapper of some kind: it stands for whatever it starts.
	info, err := os.Stat(real)
	if err != nil {
		return t, err
	}
	t.id = fmt.Sprint(real, info.Size(), info.ModTime().UnixNano())
	return t, nil
}

func (t toolchain) key() string {
	sum := sha256.Sum256([]byte(t.id))
	return hex.EncodeToString(sum[:])[:8]
}
