package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/config"
)

func newInit(e *env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write the default configuration, to be edited",
		Long: `Writes the configuration that applies anyway, so that it can be edited: agents,
modes, prompts, providers and features. Files that exist are left alone.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return &usageError{errors.New("--dir is empty")}
			}
			target := dir
			if !cmd.Flags().Changed("dir") {
				target = filepath.Join(e.flags.workdir, target)
			}
			written, skipped, err := config.Init(target)
			for _, path := range written {
				fmt.Fprintf(e.out, "created %s\n", path)
			}
			for _, path := range skipped {
				fmt.Fprintf(e.out, "exists  %s\n", path)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", config.Dir, "where to write it")
	return cmd
}
