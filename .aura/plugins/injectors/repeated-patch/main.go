// Package repeated_patch warns when the model edits one file many times in a turn,
// which is a sign that it works by trial and error.
package repeated_patch

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// seen is what PatchCounts said after the previous call, to find out which files
// the call that has just finished changed.
var seen map[string]int

// AfterToolExecution runs after every tool call that was executed. PatchCounts
// counts the successful edits of the turn, file by file.
func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	threshold := 5
	if v, ok := c.PluginConfig["threshold"].(int); ok {
		threshold = v
	}
	var files []string
	for file, n := range c.PatchCounts {
		if threshold > 0 && n >= threshold && n > seen[file] {
			files = append(files, fmt.Sprintf("%s (%d times)", file, n))
		}
	}
	seen = c.PatchCounts // A copy made for this call; nobody else changes it.
	if len(files) == 0 {
		return sdk.Result{}, nil
	}
	sort.Strings(files) // Maps have no order; a message should.
	return sdk.Result{
		Message: "You have patched the same file again and again in this turn: " + strings.Join(files, ", ") +
			". Read it once more as a whole and make one well-considered change.",
		Role:   sdk.RoleUser,
		Prefix: "[repeated-patch] ",
	}, nil
}
