// Package instructions reads the files that people write for every prompt: AGENTS.md, and
// what an agent names. It does not decide what is done with them.
package instructions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is what people write for every coding agent.
const file = "AGENTS.md"

// maxPromptFile bounds what one file may add to every request.
const maxPromptFile = 256 << 10

// For collects the AGENTS.md files that concern an agent, the most general first: those
// of the homes, then those of dirs, which are the directories from the root of the
// repository down to the working directory, or that one alone. which is "all", "global",
// "local" or "none"; empty means all.
func For(homes, dirs []string, workdir, which string) (string, error) {
	if which == "none" {
		return "", nil
	}
	var paths []string
	if which != "local" {
		for _, home := range homes {
			paths = append(paths, filepath.Join(home, file))
		}
	}
	if which != "global" {
		for _, dir := range dirs {
			paths = append(paths, filepath.Join(dir, file))
		}
	}
	return read(slices.Compact(paths), workdir, false)
}

// Files reads files by name, relative to the working directory.
func Files(names []string, workdir string) (string, error) {
	paths := make([]string, len(names))
	for i, p := range names {
		if paths[i] = p; !filepath.IsAbs(p) {
			paths[i] = filepath.Join(workdir, p)
		}
	}
	return read(paths, workdir, true)
}

// read reads files for the prompt, each under its name.
func read(paths []string, workdir string, required bool) (string, error) {
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
		if rel, err := filepath.Rel(workdir, path); err == nil && !strings.HasPrefix(rel, "..") {
			name = rel
		}
		parts = append(parts, fmt.Sprintf("<file path=%q>\n%s\n</file>", name, strings.TrimSpace(string(src))))
	}
	return strings.Join(parts, "\n\n"), nil
}
