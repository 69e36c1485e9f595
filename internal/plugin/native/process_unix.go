//go:build unix

package native

import (
	"os"
	"os/exec"

	"github.com/idelchi/aura/internal/procgroup"
)

func ownGroup(cmd *exec.Cmd) { procgroup.Lead(cmd) }

// leave hands files to the program and returns their numbers there.
func leave(cmd *exec.Cmd, files ...*os.File) (numbers []uint64) {
	for _, f := range files {
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		numbers = append(numbers, uint64(2+len(cmd.ExtraFiles)))
	}
	return numbers
}
