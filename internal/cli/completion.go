package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/session"
)

// completeFlags makes the shell offer names for the flags of all commands. Commands say
// themselves what it offers for their arguments.
func (e *env) completeFlags(root *cobra.Command) {
	for flag, names := range map[string]func(context.Context) ([]string, error){
		"agent": e.named(agentNames), "mode": e.named(modeNames), "provider": e.named(providerNames),
		"model": e.modelNames, "resume": e.sessionNames,
	} {
		_ = root.RegisterFlagCompletionFunc(flag, e.offer(names))
	}
}

// offer makes a completion of names; the shell picks those that fit.
func (e *env) offer(names func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		_ = e.flags.fromEnvironment(cmd) // What is wrong there shows when the command runs.
		list, err := names(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		// What is on the line already is not offered again.
		return slices.DeleteFunc(list, func(line string) bool {
			name, _, _ := strings.Cut(line, "\t") // A description follows.
			return slices.Contains(args, name)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// named is names out of the configuration.
func (e *env) named(names func(*config.Config) []string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) {
		homes, err := config.FindHomes(e.flags.options().Homes)
		if err != nil {
			return nil, err
		}
		cfg, err := config.Load(homes)
		if err != nil {
			return nil, err
		}
		return names(cfg), nil
	}
}

func agentNames(cfg *config.Config) (names []string) {
	for _, a := range cfg.Agents {
		if !a.Hide {
			names = append(names, a.Name)
		}
	}
	return names
}

func modeNames(cfg *config.Config) []string {
	names := []string{"none"}
	for _, m := range cfg.Modes {
		if !m.Hide {
			names = append(names, m.Name)
		}
	}
	return names
}

func providerNames(cfg *config.Config) (names []string) {
	for _, p := range cfg.Providers {
		names = append(names, p.Name)
	}
	for _, name := range config.KnownProviders() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func hookNames(cfg *config.Config) []string { return slices.Sorted(maps.Keys(cfg.Hooks)) }

func (e *env) serverNames(context.Context) (names []string, err error) {
	a, err := app.Read(e.flags.lookup())
	if err != nil {
		return nil, err
	}
	servers, err := a.Servers()
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names, err
}

// modelNames asks the provider. A shell does not wait long.
func (e *env) modelNames(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	a, err := app.Read(e.flags.lookup())
	if err != nil {
		return nil, err
	}
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	_, models, err := a.Models().List(ctx, t.Provider.Name)
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names, err
}

// sessionNames are the names of sessions, and the IDs of those without, with what they
// are about.
func (e *env) sessionNames(context.Context) (names []string, err error) {
	err = e.withStore(func(s *session.Store) error {
		list, err := s.List()
		for _, i := range list {
			names = append(names, cobra.CompletionWithDesc(cmp.Or(i.Name, i.ID), i.Title))
		}
		return err
	})
	return names, err
}
