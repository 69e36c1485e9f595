// Package cli is the command line: flags, subcommands, exit codes. It decides
// what runs and how its output leaves the program; the work is done by app.
package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// version is set by the linker; "dev" is a build without one.
var version = "dev"

// heapGrowth is the percentage by which the heap may grow between two collections. Go's
// default of 100 spends a quarter of the time of a fast conversation on a small heap.
const heapGrowth = 250

// Main runs the program and returns its exit code.
func Main(args []string, in, out, errOut *os.File) (code int) {
	defer func() {
		if v := recover(); v != nil {
			// A bug of ours: one line for the user, the rest for the report.
			fmt.Fprintf(errOut, "aura: internal error: %v (please report it with the output of AURA_TRACEBACK=1)\n", v)
			if os.Getenv("AURA_TRACEBACK") != "" {
				_, _ = errOut.Write(debug.Stack())
			}
			code = exitError
		}
	}()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	e := &env{program: programName(args), in: in, out: out, err: errOut}
	root := newRoot(e)
	root.SetArgs(args[1:])
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	return e.exitCode(root.ExecuteContext(context.Background()))
}

// programName is the name under which the program was called: aura, or its other
// name, aar.
func programName(args []string) string {
	if len(args) > 0 && strings.EqualFold(strings.TrimSuffix(filepath.Base(args[0]), ".exe"), "aar") {
		return "aar"
	}
	return "aura"
}
