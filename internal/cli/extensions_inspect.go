package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/wording"
)

func newExtensionsInspect(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:               "inspect NAME",
		Short:             "Load an extension and show what it registers",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeExtensions(&e.flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inspectExtension(cmd.Context(), e, args[0], *asJSON)
		},
	}
}

func inspectExtension(ctx context.Context, e *env, name string, asJSON bool) error {
	p, err := findPython(e.flags.options())
	if err != nil {
		return err
	}
	x, err := findExtension(&p, name)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	l, err := p.Inspect(ctx, x)
	if err != nil {
		return fmt.Errorf("extension %q: %w", name, err)
	}
	if asJSON {
		return e.printJSON(l)
	}
	return describeExtension(e.out, l)
}

// findExtension finds an extension by name: one that runs, or one that ships with aura.
func findExtension(p *pyext.Source, name string) (pyext.Extension, error) {
	active := pyext.Active(p.Found)
	if i := slices.IndexFunc(active, func(x pyext.Extension) bool { return x.Name == name }); i >= 0 {
		return active[i], nil
	}
	if x, ok := pyext.ContribExtension(p.Cache, name); ok {
		return x, nil
	}
	names := append(activeNames(active), pyext.Contrib()...)
	hint := cmp.Or(wording.DidYouMean(name, names), `"aura extensions list" lists them`)
	return pyext.Extension{}, fmt.Errorf("no extension %q (%s)", name, hint)
}

func describeExtension(out io.Writer, l pyext.Loaded) error {
	w := newTable(out)
	fmt.Fprintf(w, "Name:\t%s\nSource:\t%s\nPath:\t%s\n", l.Name, l.Tier, l.Path)
	if l.EntryPoint != "" {
		fmt.Fprintf(w, "Entry point:\t%s\n", l.EntryPoint)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var tools, commands []string
	for _, t := range l.Tools {
		tools = append(tools, extensionToolText(t))
	}
	for _, c := range l.Commands {
		commands = append(commands, strings.TrimSuffix("/"+c.Name+": "+c.Description, ": "))
	}
	for _, section := range []struct {
		title string
		lines []string
	}{{"Event hooks", l.Events}, {"Tools", tools}, {"Commands", commands}, {"System prompt", l.Prompts}} {
		fmt.Fprintf(out, "\n%s:\n", section.title)
		if len(section.lines) == 0 {
			section.lines = []string{"none"}
		}
		for _, line := range section.lines {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(line, "\n", "\n  "))
		}
	}
	return nil
}

func extensionToolText(t pyext.Tool) string {
	text := t.Name + ": " + t.Description
	effects := slices.DeleteFunc(slices.Clone(t.SideEffects), func(s string) bool { return s == "none" })
	if len(effects) > 0 {
		text += " [" + strings.Join(effects, ", ") + "]"
	}
	if t.Approval {
		text += " [needs approval]"
	}
	return text
}
