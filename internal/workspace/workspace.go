// Package workspace is where a session would happen: its directory, its environment and
// its configuration, read but not in force. It tells what a session would be made of, and
// runs nothing by itself; that is for package app.
package workspace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/environ"
	"github.com/idelchi/aura/internal/sh"
)

// Workspace is where a session would happen. It has started nothing and needs no Close.
type Workspace struct {
	opts    Options
	workdir string
	env     environ.Environ
	cfg     *config.Config
}

// Read reads the configuration of a session and starts nothing.
func Read(o Options) (*Workspace, error) {
	start, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	}
	w := &Workspace{opts: o, workdir: cmp.Or(o.Task.Workdir, start)}
	if info, err := os.Stat(w.workdir); err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("workdir: %s is not a directory", w.workdir)
	}
	if !o.Confined { // A child gets its whole environment from its parent.
		if w.env, err = environ.Load(config.LoadEnvFile, o.EnvFile, start); err != nil {
			return nil, err
		}
	}
	w.env = w.env.With(o.Task.Env)
	w.cfg, err = ReadConfig(o)
	return w, err
}

// ReadConfig reads the configuration files that the options name.
func ReadConfig(o Options) (*config.Config, error) {
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(homes)
	if err != nil {
		return nil, err
	}
	return cfg.WithTask(o.Task.Features), nil
}

// Shell runs a `bash:` term of a condition.
func (w *Workspace) Shell(ctx context.Context, command string) bool {
	r, err := w.Run(ctx, command)
	return err == nil && r.ExitCode == 0
}

// Run runs a shell script in the working directory, with the environment of the session.
func (w *Workspace) Run(ctx context.Context, script string) (sh.Result, error) {
	return sh.Run(ctx, sh.Command{Script: script, Dir: w.workdir, Env: w.env.List()})
}
