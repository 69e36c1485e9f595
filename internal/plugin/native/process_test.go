package native

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/plugin/native/pipe"
	"github.com/idelchi/aura/sdk"
)

type beforeChat = func(context.Context, sdk.BeforeChatContext) (sdk.Result, error)

// A plugin whose aura is gone ends, whatever it does.
func TestParentGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module probe\n", "main.go": `package probe

import (
	"context"
	"os"

	"github.com/idelchi/aura/sdk"
)

func BeforeChat(context.Context, sdk.BeforeChatContext) (sdk.Result, error) {
	if err := os.WriteFile("running", nil, 0o644); err != nil {
		return sdk.Result{}, err
	}
	for {
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := Builder{Cache: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	src := Source{Dir: dir, Module: "probe", Functions: []string{"BeforeChat"}}
	exe, err := b.Executable(t.Context(), src, func(*Tree) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), exe, StartOptions{Name: "probe", Dir: dir, Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	fn, _ := p.Lookup("BeforeChat", reflect.TypeFor[beforeChat](), p.client)
	lost := make(chan error, 1)
	go func() {
		_, err := fn.(beforeChat)(context.Background(), sdk.BeforeChatContext{})
		lost <- err
	}()
	for {
		if _, err := os.Stat(filepath.Join(dir, "running")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = p.files[0].Close() // As the end of this process would.
	if heard, err := p.Wait(); !heard || err.Error() != "its process ended" {
		t.Errorf("%v, %v", heard, err)
	}
	if err := <-lost; !errors.As(err, new(*pipe.Lost)) {
		t.Errorf("%v", err)
	}
}
