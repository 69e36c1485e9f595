package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
)

// reexec is the command line that starts this program again as a sandboxed child
// with the same configuration. Empty if the program cannot find itself.
func (f *rootFlags) reexec(cmd *cobra.Command) []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	args := []string{exe}
	cmd.Root().PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "resume", "continue", "dry", "debug", "verbose", "help":
			return // They are about the session, which the child does not have.
		}
		if !flag.Changed {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				args = append(args, "--"+flag.Name+"="+v)
			}
			return
		}
		args = append(args, "--"+flag.Name+"="+flag.Value.String())
	})
	return append(args, "tools", "--worker")
}

// restrictions are the paths to which the flags restrict a tool; nil if they do not.
func (f *toolsFlags) restrictions(workdir string) *sandbox.Rules {
	if !f.readOnly && len(f.roPaths)+len(f.rwPaths) == 0 {
		return nil
	}
	r := sandbox.Rules{RO: f.roPaths, RW: f.rwPaths}
	if f.readOnly {
		r = sandbox.Rules{RO: append(f.roPaths, string(os.PathSeparator))}
	}
	r = r.Resolve(workdir)
	return &r
}

// confine restricts this process before it runs a tool. Where the kernel cannot, the
// paths that the call declares are still checked.
func confine(t *tool.Tool, values map[string]any, r *sandbox.Rules, workdir string, warn func(string)) error {
	if r == nil {
		return nil
	}
	for _, path := range r.Missing {
		warn(sandbox.MissingText(path))
	}
	if t.Paths != nil {
		p, err := t.Paths(values)
		if err == nil {
			err = r.Check(p, workdir)
		}
		if err != nil {
			return err
		}
	}
	if err := sandbox.Supported(); err != nil {
		warn(strings.TrimSpace(err.Error()))
		return nil
	}
	return sandbox.Confine(*r)
}
