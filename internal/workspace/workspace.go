// Package workspace is where a session would happen: its directory, its environment and
// its configuration, read but not in force. It tells what a session would be made of, and
// runs nothing by itself; that is for package app.
package workspace

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

// OpenLog opens the debug log, if one is wanted, in the home that is written to.
func (w *Workspace) OpenLog() (*slog.Logger, func() error, error) {
	home := w.cfg.Homes.Last()
	if !w.opts.Debug || home == "" {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, nil, fmt.Errorf("debug log: %w", err)
	}
	_ = config.Ignore(home) // Where it cannot be written, the log cannot either.
	f, err := os.OpenFile(filepath.Join(home, "debug.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("debug log: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})), f.Close, nil
}
