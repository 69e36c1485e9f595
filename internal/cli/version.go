package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	sdkversion "github.com/idelchi/aura/sdk/version"
)

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(e.out, versionText())
			return err
		},
	}
}

func versionText() string {
	return fmt.Sprintf(
		"aura %s (sdk %s, %s %s/%s)\n",
		version,
		sdkversion.Version,
		runtime.Version(),
		runtime.GOOS,
		runtime.GOARCH,
	)
}
