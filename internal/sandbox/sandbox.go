// Package sandbox confines tools to a set of paths: it checks what a call declares
// to touch, and runs tools in a child process that the kernel confines (Landlock,
// Linux). It does not decide which paths those are; the configuration does.
package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Rules are what confined tools may reach. Paths are absolute; a directory stands
// for everything below it.
type Rules struct {
	RO        []string `json:"ro"`         // May be read and executed.
	RW        []string `json:"rw"`         // May be read, written and executed.
	NoNetwork bool     `json:"no_network"` // No TCP, where the kernel can tell.

	Missing []string `json:"-"` // Paths that were to be written and do not exist; of resolved rules.
}

// Default is what applies where nobody says otherwise: everything may be read,
// only the working directory and temporary files may be written.
func Default(workdir string) Rules {
	rw := []string{workdir, os.TempDir()}
	if dir, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(dir); err == nil {
			rw = append(rw, dir) // Compilers keep their caches there.
		}
	}
	return Rules{RO: []string{string(filepath.Separator)}, RW: rw}
}

// Resolve makes the paths of rules absolute, with `~` and links resolved, and
// leaves out those that do not exist: the kernel cannot name them.
func (r Rules) Resolve(workdir string) Rules {
	resolve := func(list []string) (out, missing []string) {
		for _, p := range list {
			if rest, ok := strings.CutPrefix(p, "~"); ok {
				if home, err := os.UserHomeDir(); err == nil {
					p = home + rest
				}
			}
			if !filepath.IsAbs(p) {
				p = filepath.Join(workdir, p)
			}
			switch real, err := filepath.EvalSymlinks(p); {
			case err != nil:
				missing = append(missing, p)
			case !slices.Contains(out, real):
				out = append(out, real)
			}
		}
		return out, missing
	}
	out := Rules{NoNetwork: r.NoNetwork}
	out.RO, _ = resolve(r.RO)
	out.RW, out.Missing = resolve(r.RW)
	return out
}

// String describes the rules in one line.
func (r Rules) String() string {
	text := fmt.Sprintf("read %s; write %s", listed(r.RO), listed(r.RW))
	if len(r.Missing) > 0 {
		text += " (missing: " + strings.Join(r.Missing, ", ") + ")"
	}
	if r.NoNetwork {
		text += "; no network"
	}
	return text
}

// MissingText says what it means that a path to be written does not exist.
func MissingText(path string) string {
	return path + " does not exist: tools can neither create nor write it"
}

func listed(paths []string) string {
	if len(paths) == 0 {
		return "nothing"
	}
	return strings.Join(paths, ", ")
}

// allows reports whether the rules let path be read or written. The rules must be
// resolved. A path that does not exist yet is judged by where it would be.
func (r Rules) allows(path string, write bool) bool {
	path = target(path)
	below := func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	}
	return slices.ContainsFunc(r.RW, below) || !write && slices.ContainsFunc(r.RO, below)
}

// target resolves the links of path as far as it exists.
func target(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(target(parent), filepath.Base(path))
}

// Check says which declared path of a call the rules do not allow; nil if all are.
// Relative paths are relative to workdir.
func (r Rules) Check(p tool.Paths, workdir string) error {
	for _, c := range []struct {
		paths []string
		verb  string
	}{{p.Write, "written"}, {p.Read, "read"}} {
		for _, path := range c.paths {
			if !filepath.IsAbs(path) {
				path = filepath.Join(workdir, path)
			}
			if !r.allows(path, c.verb == "written") {
				return fmt.Errorf("the sandbox does not let %s be %s (%s)", path, c.verb, r)
			}
		}
	}
	return nil
}

// Guard returns the gate that checks declared paths before a tool runs. rules
// returns what holds for an agent in a mode, nil while the sandbox is off.
func Guard(find func(name string) (tool.Tool, bool), rules func(agent, mode string) (*Rules, error)) lifecycle.Binding {
	return lifecycle.Binding{
		Source: lifecycle.Source{Kind: lifecycle.Guard, Name: "sandbox"}, Moment: lifecycle.BeforeToolExecution,
		OnFailure: lifecycle.Deny,
		Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
			d := ev.BeforeTool()
			r, err := rules(d.Agent, d.Mode)
			t, ok := find(d.ToolName)
			if err != nil || r == nil || !ok || t.Paths == nil {
				return lifecycle.Reply{}, err
			}
			p, err := t.Paths(d.Arguments)
			if err == nil {
				err = r.Check(p, d.Workdir)
			}
			if err != nil {
				return lifecycle.Reply{Block: true, Reason: err.Error()}, nil
			}
			return lifecycle.Reply{}, nil
		}),
	}
}
