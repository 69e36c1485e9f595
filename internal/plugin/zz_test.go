package plugin

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/idelchi/aura/sdk"
)

func BenchmarkZRaw(b *testing.B) {
	dir := b.TempDir()
	os.WriteFile(dir+"/go.mod", []byte("module small\n"), 0o644)
	os.WriteFile(dir+"/main.go", []byte(`package small

import ("context"; "fmt"; "strings"; "github.com/idelchi/aura/sdk")
var calls int

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	calls++
	if calls%1000000 != 0 {
		return sdk.Result{}, nil
	}
	return sdk.Result{Message: fmt.Sprintf("Turn %d | %s", calls, strings.ToUpper(c.Agent)), Role: sdk.RoleUser, Prefix: "[small] ", Eject: true}, nil
}
`), 0o644)
	p, err := yaegi{}.load(b.Context(), world{dir: dir, name: "x", env: newEnvironment(nil, nil), log: slog.New(slog.DiscardHandler), output: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	f := p.lookup("BeforeChat").(func(context.Context, sdk.BeforeChatContext) (sdk.Result, error))
	c := sdk.BeforeChatContext{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	p.kill()
}
