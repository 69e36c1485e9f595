package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/wording"
)

// confinement looks at the sandbox.
func confinement(_ context.Context, p *patient) []Finding {
	const name = "sandbox"
	var rules *sandbox.Rules
	if p.place != nil {
		rules, _ = p.place.SandboxRules()
	}
	if rules == nil {
		return []Finding{kernel(name, false, false)}
	}
	list := []Finding{kernel(name, true, rules.NoNetwork)}
	for _, path := range rules.Missing {
		list = append(list, warn(name, sandbox.MissingText(path), "create it"))
	}
	return list
}

// kernel looks at what the kernel can do for a sandbox.
func kernel(name string, on, network bool) Finding {
	state := "off"
	if on {
		state = "on"
	}
	err, netErr := sandbox.Supported(), sandbox.NetworkSupported()
	switch {
	case err != nil && on:
		return warn(
			name,
			"on, but not enforced: "+err.Error(),
			"paths that tools declare are still checked; programs that they start are not confined",
		)
	case err != nil:
		return ok(name, fmt.Sprintf("%s; %v", state, err))
	case netErr != nil && on && network:
		return fail(name, "network: deny cannot be enforced: "+netErr.Error(), "remove it, or use another kernel")
	case netErr != nil:
		return ok(name, fmt.Sprintf("%s; Landlock ABI %d; %v", state, sandbox.ABI(), netErr))
	}
	parts := "files and network"
	if sandbox.SignalsSupported() == nil {
		parts = "files, network and signals"
	}
	return ok(name, fmt.Sprintf("%s; Landlock ABI %d, %s", state, sandbox.ABI(), parts))
}

func git(ctx context.Context, _ *patient) []Finding {
	return program(ctx, "git", "--version", "needed to install plugins")
}

func goToolchain(ctx context.Context, _ *patient) []Finding {
	return program(ctx, "go", "version", "needed for native plugins and for dependencies of plugins")
}

// program runs a program for its version. Everything works without it, nearly.
func program(ctx context.Context, name, argument, use string) []Finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return []Finding{warn(name, "not found in PATH", use)}
	}
	out, err := exec.CommandContext(ctx, path, argument).Output()
	if err != nil {
		return []Finding{warn(name, fmt.Sprintf("%s %s: %v", path, argument, err), use)}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return []Finding{ok(name, line)}
}

// sessions tries whether a session could be saved.
func sessions(_ context.Context, p *patient) []Finding {
	const name = "sessions"
	home := p.homes.Last()
	if home == "" {
		return []Finding{
			warn(name, "nothing is saved: there is neither a project home nor a global one", "aura init makes one"),
		}
	}
	dir := filepath.Join(home, "sessions")
	if err := writable(dir); err != nil {
		return []Finding{
			fail(name, err.Error(), "sessions cannot be saved there; make it a directory that you can write to"),
		}
	}
	list, err := session.Open(dir).List()
	if err != nil {
		return []Finding{fail(name, err.Error(), "")}
	}
	found := []Finding{ok(name, fmt.Sprintf("%s in %s", wording.Count(len(list), "session"), dir))}
	for _, s := range list {
		if s.Error != "" {
			found = append(found, warn(name, s.Error, "aura sessions delete "+s.ID+" removes it"))
		}
	}
	return found
}

// writable tries to write to a directory, or to the one in which it would be made. It
// leaves nothing behind.
func writable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
		return writable(filepath.Dir(dir))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// largeLog is where a debug log is worth a word.
const largeLog = 100 << 20

func debugLog(_ context.Context, p *patient) []Finding {
	path := filepath.Join(p.homes.Last(), "debug.log")
	info, err := os.Stat(path)
	switch {
	case p.homes.Last() == "" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []Finding{warn("debug log", err.Error(), "--debug cannot write it")}
	case info.IsDir():
		return []Finding{warn("debug log", path+" is a directory", "--debug cannot write it; remove the directory")}
	case info.Size() > largeLog:
		return []Finding{warn("debug log", fmt.Sprintf("%s has %d MiB", path, info.Size()>>20), "delete it")}
	}
	return []Finding{ok("debug log", fmt.Sprintf("%s, %d KiB", path, (info.Size()+1023)>>10))}
}

func checkTerminal(_ context.Context, p *patient) []Finding {
	const name = "terminal"
	if p.Terminal == nil || !terminal.Is(p.Terminal) {
		return []Finding{ok(name, "none here: output goes to a file or a pipe")}
	}
	kind := os.Getenv("TERM")
	if kind == "" || kind == "dumb" {
		return []Finding{
			warn(
				name,
				fmt.Sprintf("TERM is %q: no colours, no line editing", kind),
				"use another terminal, or set TERM to what it is",
			),
		}
	}
	text := kind + ", no colours"
	if terminal.Color(p.Terminal, os.Getenv) {
		text = kind + ", colours"
	}
	return []Finding{ok(name, text)}
}
