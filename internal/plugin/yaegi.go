package plugin

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/plugin/symbols"
	"github.com/idelchi/aura/sdk"
	"github.com/idelchi/aura/third_party/yaegi/interp"
	"github.com/idelchi/aura/third_party/yaegi/stdlib/generic"
)

// yaegi is the engine that interprets.
type yaegi struct{}

// interpreted is a program in an interpreter of its own.
type interpreted struct {
	interp *interp.Interpreter
	src    *source
	files  []*os.File // Stand-ins for the standard streams.
}

func (yaegi) load(ctx context.Context, w world) (_ program, err error) {
	src, err := readSource(w.dir, w.unsafe)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, HookTimeout)
	defer cancel()
	p := &interpreted{src: src}
	p.interp = interp.New(interp.Options{
		GoPath: ".", SourcecodeFilesystem: src.files,
		Stdin: strings.NewReader(""), Stdout: w.output, Stderr: w.output, Args: []string{w.name},
		GoPanic: func(_ any, where string) {
			where = strings.TrimPrefix(where, path.Join("src", src.module)+"/")
			w.tell(fmt.Sprintf("plugin %s: a goroutine that it started has ended: %s", w.name, where))
		},
	})
	defer func() {
		if err != nil {
			p.kill()
		}
	}()
	if err := p.use(w); err != nil {
		return nil, err
	}
	if _, err := p.interp.EvalWithContext(ctx, fmt.Sprintf("import %q", src.module)); err != nil {
		return nil, p.explain(err, w.unsafe)
	}
	return p, nil
}

func (p *interpreted) traits() traits {
	// The interpreter runs one select statement at a time: executing the same one twice
	// at once mixes up its cases. Where there is one, calls do not overlap.
	return traits{engine: "yaegi", reaches: p.reaches, overlaps: !p.src.selects}
}

// errSlow is the error of a program that does not come to the end of loading.
var errSlow = errors.New("loading takes too long: does an init function or a package variable wait for something?")

// use gives the interpreter the SDK and the packages that the source imports.
func (p *interpreted) use(w world) error {
	std := &stdlib{world: w, program: p, types: map[reflect.Value][]reflect.Type{}}
	exports := interp.Exports{}
	needed := map[string]bool{}
	for _, name := range p.src.std {
		pkg, _ := symbols.Lookup(name)
		std.adapt(name, pkg.Symbols)
		exports[key(name, pkg.Name)] = pkg.Symbols
		for _, n := range pkg.Needs {
			needed[n] = true
		}
	}
	for name := range needed {
		if !slices.Contains(p.src.std, name) {
			pkg, _ := symbols.Wrappers(name)
			exports[key(name, pkg.Name)] = pkg.Symbols
		}
	}
	if std.err != nil {
		return std.err
	}
	exports["."] = map[string]reflect.Value{"MapTypes": reflect.ValueOf(std.types)}
	for name, table := range sdk.Symbols {
		exports[name] = table
	}
	if err := p.interp.Use(exports); err != nil {
		return err
	}
	if slices.ContainsFunc(p.src.std, func(n string) bool { return n == "cmp" || n == "maps" || n == "slices" }) {
		for _, text := range generic.Sources { // What the interpreter can do of the generic packages.
			if _, err := p.interp.Compile(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// key names a package in a symbol table. "fmt/fmt" would make the interpreter
// compile all generic packages at once, and replace functions that we replace
// ourselves; written in another way it is just a package.
func key(importPath, name string) string {
	if importPath == "fmt" {
		return "fmt/./fmt"
	}
	return importPath + "/" + name
}

// explain makes an error of the interpreter one that the author of the plugin can
// use: with paths relative to the plugin and, where there is one, a way out.
func (p *interpreted) explain(err error, unsafe bool) error {
	if panicked, ok := errors.AsType[interp.Panic](err); ok {
		err = fmt.Errorf("panic while loading: %v", panicked.Value)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errSlow
	}
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "import \""+p.src.module+"\" error: "); ok {
		text = rest
	}
	text = strings.ReplaceAll(text, path.Join("src", p.src.module)+"/", "")
	text = strings.ReplaceAll(text, "src/", "vendor/")
	r := refusal{builtins: []string{"min", "max", "clear"}}
	if !unsafe {
		r.functions = restricted
	}
	if hint := diagnose(p.src, r); hint != nil {
		return hint
	}
	for _, limit := range limits {
		if strings.Contains(text, limit.sign) {
			return fmt.Errorf("%s (%s; %s)", text, limit.meaning, wayOut)
		}
	}
	return errors.New(text)
}

// limits explains errors that come from the interpreter rather than from the code.
var limits = []struct{ sign, meaning string }{
	{
		"undefined selector",
		"not in the interpreter's version of that package; it lacks the generic functions of the standard library",
	},
	{"undefined type for", "the interpreter cannot work out the types of this generic function"},
	{"nil reflect type", "the interpreter cannot work out the types of a generic function"},
	{
		"nil type",
		"the interpreter does not support all of Go; ranging over functions and some uses of generics are the " +
			"usual causes",
	},
}

// lookup evaluates the name of an exported function.
func (p *interpreted) lookup(name string) (fn any) {
	if !token.IsExported(name) || !p.src.mentions(name) {
		return nil
	}
	defer func() {
		if recover() != nil {
			fn = nil
		}
	}()
	v, err := p.interp.Eval(p.src.pkg + "." + name)
	if err != nil || v.Kind() != reflect.Func || v.IsNil() {
		return nil
	}
	return v.Interface()
}

// kill stops the interpreter and closes the stand-ins for the standard streams. Code
// that waits inside the standard library goes on until it returns from there.
func (p *interpreted) kill() {
	p.interp.Stop()
	for _, f := range p.files {
		_ = f.Close()
	}
}
