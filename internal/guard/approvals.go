package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// Approvals are the patterns a user has allowed while working: for the session,
// or for good in a file. It may be used by several goroutines.
type Approvals struct {
	mu      sync.Mutex
	session []string
	saved   []string
}

// approvalsFile is the form of an approvals file.
type approvalsFile struct {
	ToolAuto []string `yaml:"tool_auto"`
}

// Restore allows what was allowed for good before.
func (a *Approvals) Restore(patterns []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.saved = slices.Clone(patterns)
}

func readApprovals(file string) (approvalsFile, error) {
	var f approvalsFile
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("approvals: %w", err)
	}
	if blank(string(src)) {
		return f, nil
	}
	if err := yaml.Load(src, &f, yaml.WithKnownFields()); err != nil {
		return f, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// blank reports whether a file holds nothing but comments.
func blank(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// Patterns returns everything that is allowed.
func (a *Approvals) Patterns() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Concat(a.session, a.saved)
}

// Session returns what is allowed for this session only.
func (a *Approvals) Session() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.session)
}

// Allow allows a pattern for this session.
func (a *Approvals) Allow(patterns ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range patterns {
		if !slices.Contains(a.session, p) {
			a.session = append(a.session, p)
		}
	}
}

// Save allows a pattern for good by adding it to a file.
func (a *Approvals) Save(file, pattern string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.saved = append(a.saved, pattern)
	f, err := readApprovals(file)
	if err != nil {
		return err
	}
	if slices.Contains(f.ToolAuto, pattern) {
		return nil
	}
	f.ToolAuto = append(f.ToolAuto, pattern)
	text, err := yaml.Dump(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	return os.WriteFile(file, text, 0o644)
}
