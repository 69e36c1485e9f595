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
)

// nameList lists names that the shell may offer. A description may follow a name,
// separated by a tab.
type nameList func(context.Context, *rootFlags) ([]string, error)

// completeValues makes the shell offer values for the flags of the root. Each command
// registers the completion of its own arguments.
func (f *rootFlags) completeValues(root *cobra.Command) {
	for flag, names := range map[string]nameList{
		"agent":    configNames(agentNames),
		"mode":     configNames(modeNames),
		"provider": configNames(providerNames),
		"model":    modelNames,
		"resume":   sessionNames,
	} {
		_ = root.RegisterFlagCompletionFunc(flag, f.offer(names))
	}
}

// offer makes a completion of names; the shell picks those that fit.
func (f *rootFlags) offer(names nameList) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		_ = f.fromEnvironment(cmd) // The command reports what is wrong when it runs.
		list, err := names(cmd.Context(), f)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		// What is on the line already is not offered again.
		return slices.DeleteFunc(list, func(line string) bool {
			name, _, _ := strings.Cut(line, "\t")
			return slices.Contains(args, name)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// offerAll makes a completion of names, whatever else is on the line.
func offerAll(names func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		list, err := names(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// configNames lists names out of the configuration.
func configNames(names func(*config.Config) []string) nameList {
	return func(_ context.Context, f *rootFlags) ([]string, error) {
		homes, err := config.FindHomes(f.options().Homes)
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

// serverNames lists MCP servers.
func serverNames(_ context.Context, f *rootFlags) (names []string, err error) {
	a, err := app.Read(f.lookup())
	if err != nil {
		return nil, err
	}
	servers, err := a.Servers()
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names, err
}

// modelNames asks the provider, but not for long: the user waits at a shell.
func modelNames(ctx context.Context, f *rootFlags) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	a, err := app.Read(f.lookup())
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

// sessionNames lists the names of sessions, the IDs of those without a name, and their
// titles.
func sessionNames(_ context.Context, f *rootFlags) (names []string, err error) {
	store, err := app.OpenSessions(f.options())
	if err != nil {
		return nil, err
	}
	list, err := store.List()
	for _, i := range list {
		names = append(names, cobra.CompletionWithDesc(cmp.Or(i.Name, i.ID), i.Title))
	}
	return names, err
}
