package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/plugin/native"
)

// compiler is the engine that compiles: the program is a process of its own.
type compiler struct{}

func (compiler) load(ctx context.Context, w world) (program, error) {
	src, err := readModule(w.dir)
	if err != nil {
		return nil, err
	}
	builder := native.Builder{Cache: w.cache, Logger: w.log, Building: func() {
		w.tell(fmt.Sprintf("building plugin %s, which is needed once after a change", w.name))
	}}
	types := functions()
	exe, err := builder.Executable(ctx, native.Source{
		Dir: w.dir, Module: src.module, Unsafe: w.unsafe, Functions: slices.Sorted(maps.Keys(types)),
	}, func(t *native.Tree) error { return checkNative(src, t, w.unsafe) })
	switch forbidden, ok := errors.AsType[*native.ForbiddenError](err); {
	case ok:
		return nil, &unsafeError{forbidden.Error()}
	case errors.Is(err, native.ErrNoToolchain):
		return nil, fmt.Errorf(
			`engine: "native": %w (install Go from https://go.dev/dl, or write "engine: yaegi" into plugin.yaml to interpret the plugin)`,
			err,
		)
	case err != nil:
		return nil, err
	}
	p := &compiled{
		start: func(ctx context.Context) (*native.Process, error) { return startNative(ctx, exe, w) },
		types: types,
	}
	p.process, err = p.start(ctx)
	return p, err
}

// startNative starts the process of a plugin.
func startNative(ctx context.Context, exe string, w world) (*native.Process, error) {
	ctx, cancel := context.WithTimeout(ctx, HookTimeout)
	defer cancel()
	p, err := native.Start(ctx, exe, native.StartOptions{
		Name: w.name, Dir: w.workdir, Env: w.env.list(), Task: w.env.current, Output: w.output,
	})
	if errors.Is(err, native.ErrSlow) {
		return nil, errSlow
	}
	if e, ok := errors.AsType[*native.ExitError](err); ok {
		if value, ok := strings.CutPrefix(e.Said, "panic: "); ok {
			return nil, fmt.Errorf("panic while loading: %s", value)
		}
		return nil, fmt.Errorf("while loading: %w", err)
	}
	return p, err
}

// compiled is a program in a process of its own.
type compiled struct {
	start func(ctx context.Context) (*native.Process, error)
	types map[string]reflect.Type // Of the functions that it may export.

	mu      sync.Mutex
	process *native.Process
}

func (p *compiled) current() *native.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

func (p *compiled) lookup(name string) any {
	fn, sig := p.current().Lookup(name, p.types[name], p)
	if fn == nil && sig != "" {
		return signature(sig)
	}
	return fn
}

// Call implements pipe.Caller.
func (p *compiled) Call(ctx context.Context, function string, args, results []reflect.Value) error {
	return p.current().Call(ctx, function, args, results)
}

// traits: encoding the arguments copies them.
func (p *compiled) traits() traits { return traits{engine: "native", overlaps: true, remote: true} }

func (p *compiled) kill() { p.current().Kill() }

// renew puts another process in the place of the running one.
func (p *compiled) renew(ctx context.Context) error {
	next, err := p.start(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	old := p.process
	p.process = next
	p.mu.Unlock()
	old.Kill()
	return nil
}

// checkNative looks at the source before it is built: the package must have the name
// that follows from the module path and, in restricted mode, nothing may be used
// that the interpreter would refuse.
func checkNative(src *source, t *native.Tree, unsafe bool) error {
	for _, f := range t.Files {
		if !strings.HasSuffix(f.Name, ".go") || strings.HasPrefix(f.Name, "vendor/"+sdkPath+"/") {
			continue
		}
		if ok, err := native.TakesPart(f.Name, f.Text); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		} else if !ok {
			continue
		}
		pkg := path.Join(src.module, path.Dir(f.Name))
		if rest, vendored := strings.CutPrefix(f.Name, "vendor/"); vendored {
			pkg = path.Dir(rest)
		}
		imports, _, err := src.parse(pkg, f.Name, f.Text)
		if err != nil {
			return err
		}
		for _, imp := range imports {
			if native.Forbidden(imp.path) && !unsafe {
				return &unsafeError{fmt.Sprintf("%s: import %q", imp.at, imp.path)}
			}
		}
		src.add(pkg, path.Base(f.Name), f.Text)
	}
	if unsafe {
		return nil
	}
	return diagnose(src, refusal{functions: restricted})
}
