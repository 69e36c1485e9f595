package plugin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin/native/pipe"
	"github.com/idelchi/aura/sdk"
)

// SD-04: the functions of a plugin are Go functions with the SDK types of this
// program, whichever engine runs them.
func TestTypeIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module probe\n", "main.go": `package probe

import (
	"context"

	"github.com/idelchi/aura/sdk"
)

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	return sdk.Result{Message: c.Agent}, nil
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"yaegi", "native"} {
		p, err := engineFor(name).load(t.Context(), world{
			name:   "probe",
			dir:    dir,
			env:    newEnvironment(nil, nil),
			output: io.Discard,
			cache:  t.TempDir(),
			log:    slog.New(slog.DiscardHandler),
			tell:   func(string) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.lookup("BeforeChat").(func(context.Context, sdk.BeforeChatContext) (sdk.Result, error))
		if !ok {
			t.Fatalf("%s: %T", name, p.lookup("BeforeChat"))
		}
		if r, err := f(
			t.Context(),
			sdk.BeforeChatContext{Context: sdk.Context{Agent: "x"}},
		); err != nil ||
			r.Message != "x" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		p.kill()
	}
}

// What a plugin may export is the same in both engines.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"Schema": fmt.Sprintf(
			"%T",
			schemaFunc(nil),
		),
		"Execute": fmt.Sprintf("%T", executeFunc(nil)),
		"Paths":   fmt.Sprintf("%T", pathsFunc(nil)),
		"Sandboxable": fmt.Sprintf(
			"%T",
			boolFunc(nil),
		),
		"Parallel":  fmt.Sprintf("%T", boolFunc(nil)),
		"Available": fmt.Sprintf("%T", boolFunc(nil)),
		"Init": fmt.Sprintf(
			"%T",
			initFunc(nil),
		),
		"Command":        fmt.Sprintf("%T", commandFunc(nil)),
		"ExecuteCommand": fmt.Sprintf("%T", executeCommandFunc(nil)),
	}
	for _, row := range lifecycle.Moments() {
		want[row.Function] = row.Signature()
	}
	for _, f := range pipe.Functions() {
		if want[f.Name] != f.Signature {
			t.Errorf("%s: %s and %s", f.Name, want[f.Name], f.Signature)
		}
		if got := fmt.Sprintf("%T", f.Stub(nil)); got != f.Signature {
			t.Errorf("%s: the stub is a %s", f.Name, got)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("native plugins lack %v", want)
	}
}
