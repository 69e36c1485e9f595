package manage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/idelchi/aura/internal/plugin"
)

// vendor runs `go mod tidy` and `go mod vendor` in the directory of each plugin.
// Directories without a go.mod are left alone.
func (m *Manager) vendor(ctx context.Context, plugins []plugin.Info) error {
	plugins = slices.DeleteFunc(slices.Clone(plugins), func(p plugin.Info) bool {
		_, err := os.Lstat(filepath.Join(p.Dir, "go.mod"))
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(plugins) == 0 {
		return nil
	}
	world, err := m.goWorld(ctx)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("%w: it is needed to vendor dependencies (install Go, or use --no-vendor)", err)
		}
		return err
	}
	defer world.close()
	errs := make([]error, len(plugins))
	slots := make(chan struct{}, max(1, min(4, runtime.GOMAXPROCS(0))))
	var wg sync.WaitGroup
	for i, p := range plugins {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := m.vendorOne(ctx, world, p); err != nil {
				errs[i] = fmt.Errorf("plugin %q: %w", p.Name, err)
			}
		})
	}
	m.say("vendoring the dependencies of %s", names(plugins))
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(errs...)
}

func names(plugins []plugin.Info) string {
	var list []string
	for _, p := range plugins {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// goWorld is what the go command is run with.
type goWorld struct {
	env   []string
	proxy *proxy
	cache string
}

// goWorld prepares the go command: the SDK comes from this program, all else
// from where the user's own settings say. It gets a module cache for this one use,
// because the SDK that is served for a version must not end up in the user's cache,
// where other programs would take it for the published one.
func (m *Manager) goWorld(ctx context.Context) (_ *goWorld, err error) {
	out, err := m.run(
		ctx,
		program{
			name: "go",
			args: []string{"env", "-json", "GOPROXY", "GONOPROXY", "GONOSUMDB", "GOFLAGS", "GOMODCACHE"},
			dir:  os.TempDir(),
		},
	)
	if err != nil {
		return nil, err
	}
	var set map[string]string
	if err := json.Unmarshal(out, &set); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	w := &goWorld{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.cache, err = os.MkdirTemp("", "aura-modules-*"); err != nil {
		return nil, err
	}
	if w.proxy, err = startProxy(set["GOMODCACHE"]); err != nil {
		return nil, err
	}
	w.env = goEnv(set, w.proxy.URL, w.cache)
	return w, nil
}

// goEnv puts our proxy in front of the user's.
func goEnv(set map[string]string, proxy, cache string) []string {
	upstream, private := set["GOPROXY"], set["GONOPROXY"]
	if upstream == "" { // The toolchain always names one; this is only for safety.
		upstream = "direct"
	}
	if module.MatchPrefixPatterns(private, sdkPath) {
		// Patterns cannot be taken back, so the ones that cover the SDK go. That nothing
		// private is asked of a public proxy, no proxy is asked then.
		private = strings.Join(slices.DeleteFunc(strings.Split(private, ","), func(p string) bool {
			return module.MatchPrefixPatterns(p, sdkPath)
		}), ",")
		upstream = "direct"
	}
	if private == "" {
		private = "none"
	}
	flags := slices.DeleteFunc(strings.Fields(set["GOFLAGS"]), func(f string) bool {
		f = strings.TrimLeft(f, "-")
		return strings.HasPrefix(f, "mod=") || strings.HasPrefix(f, "modfile=")
	})
	unchecked := strings.Trim(set["GONOSUMDB"]+","+sdkPath, ",")
	return []string{
		"GOPROXY=" + proxy + "," + upstream, "GONOPROXY=" + private, "GONOSUMDB=" + unchecked,
		"GOFLAGS=" + strings.Join(append(flags, "-mod=mod", "-modcacherw"), " "),
		"GOMODCACHE=" + cache, "GOWORK=off", "GO111MODULE=on",
	}
}

func (w *goWorld) close() {
	if w.proxy != nil {
		w.proxy.Close()
	}
	if w.cache != "" {
		os.RemoveAll(w.cache)
	}
}

// vendorOne vendors the dependencies of one plugin.
func (m *Manager) vendorOne(ctx context.Context, w *goWorld, p plugin.Info) error {
	if err := prepareModule(p.Dir); err != nil {
		return err
	}
	for _, verb := range []string{"tidy", "vendor"} {
		if err := m.inject("go mod " + verb); err != nil {
			return err
		}
		_, err := m.run(
			ctx,
			program{name: "go", args: []string{"mod", verb}, dir: p.Dir, env: append(w.env, "PWD="+p.Dir), live: true},
		)
		if exit, ok := errors.AsType[*exitError](err); ok {
			exit.name = "go mod " + verb
			return fmt.Errorf("%w\n(its dependencies could not be vendored; if it needs none, use --no-vendor)", exit)
		}
		if err != nil {
			return err
		}
	}
	return dropSDKSums(p.Dir)
}

// prepareModule makes go.mod ask for the SDK in a way that our proxy can answer: by
// version, not by a replacement in a directory that exists only where the plugin was
// written. A plugin that asks for a newer SDK than this program has is refused.
func prepareModule(dir string) error {
	file := filepath.Join(dir, "go.mod")
	text, err := readRecord(file)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	required := false
	for _, r := range mod.Require {
		if r.Mod.Path != sdkPath {
			continue
		}
		required = true
		host := "v" + plugin.HostSDK
		if semver.Compare(r.Mod.Version, host) > 0 ||
			semver.Compare(semver.MajorMinor(r.Mod.Version), semver.MajorMinor(host)) > 0 {
			return fmt.Errorf(
				"plugin requires SDK ~%s, host has %s (update aura)",
				strings.TrimPrefix(r.Mod.Version, "v"),
				plugin.HostSDK,
			)
		}
	}
	if !required && mod.Module != nil && mod.Module.Mod.Path != sdkPath {
		// Without it the go command would search for the SDK by all the beginnings of its path.
		if err := mod.AddRequire(sdkPath, "v"+plugin.HostSDK); err != nil {
			return err
		}
	}
	for _, r := range slices.Clone(mod.Replace) {
		if r.Old.Path == sdkPath {
			if err := mod.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	mod.Cleanup()
	out, err := mod.Format()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, out, 0o644); err != nil {
		return err
	}
	return dropSDKSums(dir)
}

// dropSDKSums removes the checksums of the SDK from go.sum: they are those of
// whichever program served it last.
func dropSDKSums(dir string) error {
	file := filepath.Join(dir, "go.sum")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept := without(text, func(line string) bool { return strings.HasPrefix(line, sdkPath+" ") })
	if len(kept) == 0 {
		return os.Remove(file)
	}
	if string(kept) == string(text) {
		return nil
	}
	return os.WriteFile(file, kept, 0o644)
}
