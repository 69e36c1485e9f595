package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/wording"
)

func newExtensions(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "extensions",
		Short: "List, inspect and begin Python extensions",
		Long: `Python extensions are files and packages in .agent/extensions, in
~/.aar/extensions, and installed packages; see docs/extensions.md.`,
		Args: arguments(noSubcommand),
		RunE: func(*cobra.Command, []string) error { return e.listExtensions(asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	var user bool
	var from string
	begin := &cobra.Command{
		Use: "new NAME", Short: "Write a new extension to begin with", Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return e.newExtension(args[0], from, user) },
	}
	begin.Flags().BoolVar(&user, "user", false, "for all projects, in ~/.aar/extensions")
	begin.Flags().
		StringVar(&from, "from", "", "copy an extension that ships with aura: "+strings.Join(pyext.Contrib(), ", "))
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List extensions, where they are from and which of them run",
			Args:  arguments(cobra.NoArgs),
			RunE:  func(*cobra.Command, []string) error { return e.listExtensions(asJSON) },
		},
		&cobra.Command{
			Use:   "inspect NAME",
			Short: "Load an extension and show what it registers",
			Args:  arguments(cobra.ExactArgs(1)),
			RunE:  func(cmd *cobra.Command, args []string) error { return e.inspectExtension(cmd, args[0], asJSON) },
			ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				p, err := app.FindPython(e.flags.options())
				if err != nil {
					return nil, cobra.ShellCompDirectiveError
				}
				return extensionNames(p.Found), cobra.ShellCompDirectiveNoFileComp
			},
		},
		begin,
	)
	return cmd
}

func extensionNames(list []pyext.Extension) (names []string) {
	for _, x := range pyext.Active(list) {
		names = append(names, x.Name)
	}
	return names
}

func (e *env) listExtensions(asJSON bool) error {
	p, err := app.FindPython(e.flags.options())
	if err != nil {
		return err
	}
	if asJSON {
		if p.Found == nil {
			p.Found = []pyext.Extension{}
		}
		return e.printJSON(p.Found)
	}
	if len(p.Found) == 0 {
		fmt.Fprintln(e.err, "no extensions yet (aura extensions new NAME begins one)")
		return nil
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSOURCE\tPATH")
	for _, x := range p.Found {
		path := x.Path
		if x.EntryPoint != "" {
			path += " (" + x.EntryPoint + ")"
		}
		if x.ShadowedBy != "" {
			path += " [shadowed by " + string(x.ShadowedBy) + "]"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", x.Name, x.Tier, path)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if p.Err != nil {
		e.warn(fmt.Sprintf("they do not run: %v", p.Err))
	}
	return nil
}

// find finds an extension by name: one that runs, or one that ships with aura.
func findExtension(p *pyext.Source, name string) (pyext.Extension, error) {
	active := pyext.Active(p.Found)
	if i := slices.IndexFunc(active, func(x pyext.Extension) bool { return x.Name == name }); i >= 0 {
		return active[i], nil
	}
	if x, ok := pyext.ContribExtension(p.Cache, name); ok {
		return x, nil
	}
	known := append(extensionNames(active), pyext.Contrib()...)
	hint := cmp.Or(wording.DidYouMean(name, known), `"aura extensions list" lists them`)
	return pyext.Extension{}, fmt.Errorf("no extension %q (%s)", name, hint)
}

func (e *env) inspectExtension(cmd *cobra.Command, name string, asJSON bool) error {
	p, err := app.FindPython(e.flags.options())
	if err != nil {
		return err
	}
	x, err := findExtension(&p, name)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(cmd.Context())
	defer stop()
	l, err := p.Inspect(ctx, x)
	if err != nil {
		return fmt.Errorf("extension %q: %w", name, err)
	}
	if asJSON {
		return e.printJSON(l)
	}
	return e.describeExtension(l)
}

func (e *env) describeExtension(l pyext.Loaded) error {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Name:\t%s\nSource:\t%s\nPath:\t%s\n", l.Name, l.Tier, l.Path)
	if l.EntryPoint != "" {
		fmt.Fprintf(w, "Entry point:\t%s\n", l.EntryPoint)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	section := func(title string, lines []string) {
		fmt.Fprintf(e.out, "\n%s:\n", title)
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		for _, line := range lines {
			fmt.Fprintf(e.out, "  %s\n", strings.ReplaceAll(line, "\n", "\n  "))
		}
	}
	section("Event hooks", l.Events)
	var list []string
	for _, t := range l.Tools {
		line := t.Name + ": " + t.Description
		if effects := slices.DeleteFunc(
			slices.Clone(t.SideEffects),
			func(s string) bool { return s == "none" },
		); len(
			effects,
		) > 0 {
			line += " [" + strings.Join(effects, ", ") + "]"
		}
		if t.Approval {
			line += " [needs approval]"
		}
		list = append(list, line)
	}
	section("Tools", list)
	list = nil
	for _, c := range l.Commands {
		list = append(list, strings.TrimSuffix("/"+c.Name+": "+c.Description, ": "))
	}
	section("Commands", list)
	section("System prompt", l.Prompts)
	return nil
}

func (e *env) newExtension(name, from string, user bool) error {
	p, err := app.FindPython(e.flags.options())
	if err != nil {
		return err
	}
	dir := filepath.Join(p.Workdir, ".agent", "extensions")
	if user {
		if len(p.Dirs.User) == 0 {
			return fmt.Errorf("there is no home directory to put it into")
		}
		dir = p.Dirs.User[0]
	}
	path, err := pyext.Create(dir, name, from)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(p.Workdir, path); err == nil && !strings.HasPrefix(rel, "..") {
		path = rel
	}
	fmt.Fprintln(e.out, path)
	fmt.Fprintf(
		e.err,
		"It runs from the next session on (or after /reload). What it registers: %s extensions inspect %s\n",
		programName(os.Args),
		name,
	)
	return nil
}
