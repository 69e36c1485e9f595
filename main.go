// Command aura is an agentic coding CLI that can be extended at every stage of
// its life.
package main

import (
	"os"

	"github.com/idelchi/aura/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
