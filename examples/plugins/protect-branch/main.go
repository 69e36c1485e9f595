// Package protect_branch keeps the model from committing to, or pushing from, a
// protected branch. It shows BeforeToolExecution: look at a call, and block it.
package protect_branch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// changing finds git commands that move a branch, also behind options such as -C.
var changing = regexp.MustCompile(`\bgit\b[^;&|]*\b(commit|push|merge|rebase|reset|cherry-pick|revert)\b`)

// BeforeToolExecution runs before every tool call.
func BeforeToolExecution(_ context.Context, c sdk.BeforeToolContext) (sdk.BeforeToolResult, error) {
	command, _ := c.Arguments["command"].(string)
	if c.ToolName != "Bash" || !changing.MatchString(command) {
		return sdk.BeforeToolResult{}, nil
	}
	branch, err := currentBranch(c.Workdir)
	if err != nil {
		return sdk.BeforeToolResult{}, err // on_failure: block refuses the call.
	}
	list, _ := c.PluginConfig["branches"].([]any)
	for _, protected := range list {
		if fmt.Sprint(protected) == branch {
			return sdk.BeforeToolResult{
				Block: true,
				Result: sdk.Result{
					Message: fmt.Sprintf(
						"the branch %s is protected: create another one first (git switch -c NAME)",
						branch,
					),
				},
			}, nil
		}
	}
	return sdk.BeforeToolResult{}, nil
}

// currentBranch reads the branch from the repository's files, because plugins cannot
// start programs unless the user allows it. It is empty outside a repository and
// when no branch is checked out.
func currentBranch(dir string) (string, error) {
	for {
		git := filepath.Join(dir, ".git")
		info, err := os.Stat(git)
		if err == nil {
			if !info.IsDir() { // A worktree: the file names the directory.
				text, err := os.ReadFile(git)
				if err != nil {
					return "", err
				}
				git = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
				if !filepath.IsAbs(git) {
					git = filepath.Join(dir, git)
				}
			}
			head, err := os.ReadFile(filepath.Join(git, "HEAD"))
			if err != nil {
				return "", err
			}
			ref := strings.TrimSpace(string(head))
			if !strings.HasPrefix(ref, "ref: refs/heads/") {
				return "", nil
			}
			return strings.TrimPrefix(ref, "ref: refs/heads/"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}
