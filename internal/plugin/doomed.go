package plugin

import (
	"fmt"
	"io"
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/cogentcore/yaegi/interp"
)

// doomed takes what an interpreter says about panics. Nobody can recover from one in a
// goroutine that interpreted code has started, and Go would end the program. But the
// interpreter reports every function that a panic leaves, in the goroutine itself: when
// it is the outermost one, that goroutine is ended here, and the user is told.
type doomed struct {
	out    io.Writer
	name   string
	module string
	tell   func(text string)

	mu    sync.Mutex
	first string // Where the latest panic began.
}

func (d *doomed) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	left, all, alone := unwinding()
	if left == 0 {
		return n, err
	}
	d.mu.Lock()
	if left == 1 {
		d.first = strings.TrimSpace(strings.TrimPrefix(string(p), path.Join("src", d.module)+"/"))
	}
	where := d.first
	d.mu.Unlock()
	if alone && left == all {
		d.tell(fmt.Sprintf("plugin %s: a goroutine that it started has ended: %s", d.name, where))
		runtime.Goexit()
	}
	return n, err
}

const (
	maxUnwinding = 1 << 14 // Frames that are looked at.
	host         = "github.com/idelchi/aura/internal/"
)

// unwinding looks at the goroutine of the caller: how many interpreted functions the
// panic that is being reported has left, and how many there are. It is 0 if the
// interpreter reports no panic. alone says that the goroutine is one where nobody
// recovers: neither aura nor the interpreter, which loads a plugin so, called it.
func unwinding() (left, all int, alone bool) {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(3, pcs) // From the caller of Write on.
	for n == len(pcs) && n < maxUnwinding {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(3, pcs)
	}
	engine := reflect.TypeFor[interp.Interpreter]().PkgPath() + "."
	frames := runtime.CallersFrames(pcs[:n])
	root, above, called := "", "", false
	for more := n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch f.Function {
		case engine + "runCfg.func1":
			if left++; left == 1 && above != "fmt.Fprintln" {
				return 0, 0, false // The plugin prints something while it panics.
			}
		case engine + "runCfg":
			all++
			called = false
		}
		called = called || strings.HasPrefix(f.Function, host) ||
			strings.HasPrefix(f.Function, engine+"(*Interpreter).")
		if left == 0 && f.Function != "fmt.Fprintln" {
			return 0, 0, false
		}
		if above = f.Function; f.Function != "runtime.goexit" {
			root = f.Function
		}
	}
	alone = strings.HasPrefix(root, engine) || root == "time.goFunc" || root == "sync.(*WaitGroup).Go.func1"
	return left, all, alone && !called
}
