package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/config"
)

// instructionsFile is what people write for every coding agent.
const instructionsFile = "AGENTS.md"

// maxPromptFile bounds what one file may add to every request.
const maxPromptFile = 256 << 10

// instructions collects the AGENTS.md files that concern an agent, the most
// general first: those of the homes, then those from the root of the repository
// down to the working directory. which is "all", "global", "local" or "none";
// empty means all.
func (a *App) instructions(which string) (string, error) {
	if which == "none" {
		return "", nil
	}
	var paths []string
	if which != "local" {
		for _, home := range a.cfg.Homes.All() {
			paths = append(paths, filepath.Join(home, instructionsFile))
		}
	}
	if which != "global" {
		paths = append(paths, upward(a.workdir)...)
	}
	return a.readParts(slices.Compact(paths), false)
}

// upward lists where AGENTS.md may stand between the root of the repository and
// dir. Outside a repository only dir counts.
func upward(dir string) []string {
	dirs, _ := config.Within(dir)
	for i, d := range dirs {
		dirs[i] = filepath.Join(d, instructionsFile)
	}
	return dirs
}

// agentFiles reads the files that an agent names for its prompt, relative to the
// working directory.
func (a *App) agentFiles(who config.Agent) (string, error) {
	paths := make([]string, len(who.Files))
	for i, p := range who.Files {
		if paths[i] = p; !filepath.IsAbs(p) {
			paths[i] = filepath.Join(a.workdir, p)
		}
	}
	text, err := a.readParts(paths, true)
	if err != nil {
		return "", fmt.Errorf("%s: files: %w", who.Source.File, err)
	}
	return text, nil
}

// readParts reads files for the prompt, each under its name.
func (a *App) readParts(paths []string, required bool) (string, error) {
	var parts []string
	for _, path := range paths {
		src, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !required:
			continue
		case err != nil:
			return "", err
		case len(src) > maxPromptFile:
			return "", fmt.Errorf(
				"%s has %d bytes, more than the %d that a prompt may take from one file",
				path,
				len(src),
				maxPromptFile,
			)
		}
		name := path
		if rel, err := filepath.Rel(a.workdir, path); err == nil && !strings.HasPrefix(rel, "..") {
			name = rel
		}
		parts = append(parts, fmt.Sprintf("<file path=%q>\n%s\n</file>", name, strings.TrimSpace(string(src))))
	}
	return strings.Join(parts, "\n\n"), nil
}
