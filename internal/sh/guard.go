package sh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Limits that keep a script from taking the program down with it: the parser
// and the interpreter recurse on the stack of the program, and overflowing it
// cannot be recovered from.
const (
	maxScript     = 512 << 10 // bytes
	maxOpeners    = 20_000    // brackets and keywords, which may nest
	maxFrames     = 20_000    // of the Go stack, some twelve per level of recursion
	maxGoroutines = 5_000     // of the whole program; pipes take two files each
	maxRunning    = 500       // external commands at the same time
	checkEvery    = 64        // simple commands
)

// checkComplexity refuses text that could nest too deeply for the parser. It
// counts what opens without looking at what closes, which is safe and leaves
// room for everything people write.
func checkComplexity(script string) error {
	if len(script) > maxScript {
		return fmt.Errorf(
			"script is too long: %d bytes, the limit is %d (put data into a file)",
			len(script),
			maxScript,
		)
	}
	if len(script) <= maxOpeners {
		return nil
	}
	openers := 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{', '[', '`', '$':
			openers++
		}
	}
	for _, word := range [...]string{"if", "while", "until", "for", "case", "select", "coproc", "do"} {
		openers += strings.Count(script, word)
	}
	if openers > maxOpeners {
		return fmt.Errorf(
			"script is too complex: %d brackets and keywords, the limit is %d (put data into a file)",
			openers,
			maxOpeners,
		)
	}
	return nil
}

// checkKnown refuses what the interpreter cannot run: it would complain among the
// output, and go on.
func checkKnown(script string, file *syntax.File) (err error) {
	if !strings.Contains(script, "coproc") {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CoprocClause); ok && err == nil {
			err = fmt.Errorf("script: %s: coproc is not supported here (use a pipe, or `command &` and wait)", c.Pos())
		}
		return err == nil
	})
	return err
}

// checkInner refuses a script inside a script that cannot be run. One that cannot be
// parsed is left to the interpreter to complain about.
func checkInner(script string) error {
	if err := checkComplexity(script); err != nil || !strings.Contains(script, "coproc") {
		return err
	}
	file, err := parse(script)
	if err != nil {
		return nil
	}
	return checkKnown(script, file)
}

// guard watches the simple commands of one run.
type guard struct {
	jobs  *jobs
	calls atomic.Uint32
}

var (
	errTooDeep = errors.New("the script calls itself too deeply")
	errTooMany = errors.New("the script has too many jobs at once")
)

// call is the interpreter's call handler: it sees every simple command before
// it runs.
func (g *guard) call(ctx context.Context, args []string) ([]string, error) {
	if g.calls.Add(1)%checkEvery == 0 {
		var pc [1]uintptr
		if runtime.Callers(maxFrames, pc[:]) > 0 {
			return nil, errTooDeep
		}
		if runtime.NumGoroutine() > maxGoroutines {
			return nil, errTooMany
		}
	}
	switch args[0] {
	case "kill":
		return g.jobs.kill(ctx, args), nil
	case jobBegin:
		return g.jobs.beginJob(), nil
	case jobEnd:
		return g.jobs.endJob(ctx, args), nil
	case "eval", "trap":
		if err := checkInner(strings.Join(args[1:], " ")); err != nil {
			return nil, err
		}
	case "source", ".":
		if len(args) > 1 {
			return args, checkFile(interp.HandlerCtx(ctx).Dir, args[1])
		}
	}
	return args, nil
}

// checkFile applies the limits to a file that is about to be sourced. A file
// that cannot be read is left to the interpreter to complain about.
func checkFile(dir, name string) error {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return nil
	}
	return checkInner(string(text))
}

// environ is a list of KEY=value pairs as the interpreter reads it. Looking
// names up one by one is cheaper than sorting the list for every script.
type environ []string

func newEnviron(pairs []string) expand.Environ {
	if pairs == nil {
		pairs = os.Environ()
	}
	if runtime.GOOS == "windows" { // Names are case-insensitive there.
		return expand.ListEnviron(pairs...)
	}
	return environ(pairs)
}

// Get returns the last pair with the name.
func (e environ) Get(name string) expand.Variable {
	for i := len(e) - 1; i >= 0; i-- {
		if p := e[i]; len(p) > len(name) && p[len(name)] == '=' && p[:len(name)] == name && name != "" {
			return variable(p[len(name)+1:])
		}
	}
	return expand.Variable{}
}

// Each calls fn for every pair; later ones win.
func (e environ) Each(fn func(string, expand.Variable) bool) {
	for _, p := range e {
		name, value, ok := strings.Cut(p, "=")
		if ok && name != "" && !fn(name, variable(value)) {
			return
		}
	}
}

func variable(value string) expand.Variable {
	return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
}
