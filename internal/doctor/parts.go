package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/internal/wording"
)

// agents makes the profiles and prompts of all agents.
func agents(_ context.Context, p *patient) []Finding {
	names, problems, err := app.Rehearse(p.App)
	if err != nil {
		return mistakes("agents", err, "")
	}
	if len(problems) == 0 {
		return []Finding{ok("agents", strings.Join(names, ", "))}
	}
	var list []Finding
	for _, err := range problems {
		f := mistakes("agents", err, "")
		list = append(list, slices.DeleteFunc(f, func(f Finding) bool { return slices.Contains(list, f) })...)
	}
	return list
}

// policy looks for rules that match nothing. Only if there seem to be some it loads what
// else may bring tools.
func policy(ctx context.Context, p *patient) []Finding {
	var names []string
	for _, t := range tools.New(tools.Options{}) {
		names = append(names, t.Name)
	}
	list, err := p.app.PolicyMistakes(names)
	if err == nil && len(list) > 0 {
		list, err = p.app.PolicyMistakes(append(names, broughtTools(ctx, p)...))
	}
	if err != nil {
		return mistakes("policy", err, "")
	}
	var out []Finding
	for _, text := range list {
		out = append(out, warn("policy", text, ""))
	}
	return out
}

// broughtTools names the tools of plugins and extensions, as far as they can be loaded:
// other checks say why not.
func broughtTools(ctx context.Context, p *patient) (names []string) {
	if !p.App.Plugins.Without {
		infos, _, _ := p.app.ListPlugins(ctx)
		for _, i := range infos {
			names = append(names, i.Tool)
		}
	}
	if p.App.NoExtensions {
		return names
	}
	py, err := app.FindPython(p.App)
	if err != nil || len(pyext.Active(py.Found)) == 0 {
		return names
	}
	loaded, _ := py.Load(ctx)
	for _, l := range loaded {
		for _, t := range l.Tools {
			names = append(names, t.Name)
		}
	}
	return names
}

func taskList(_ context.Context, p *patient) []Finding {
	list, err := app.LoadTasks(p.App)
	switch {
	case err != nil:
		return mistakes("tasks", err, "")
	case len(list) == 0:
		return nil
	}
	return []Finding{ok("tasks", wording.Count(len(list), "task"))}
}

// hookList compiles the hooks and looks for the programs that they start.
func hookList(_ context.Context, p *patient) []Finding {
	set, report, err := p.app.Hooks(nil)
	if err != nil {
		return mistakes("hooks", err, "")
	}
	var list []Finding
	for _, line := range report {
		list = append(list, warn("hooks", line, "it was imported from another program"))
	}
	all := set.Hooks()
	idle, _ := set.Idle()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		if slices.ContainsFunc(idle, func(i config.Hook) bool { return i.Name == h.Name }) {
			continue
		}
		programs, err := sh.Programs(h.Command)
		if err != nil {
			list = append(list, fail("hook "+name, err.Error(), h.Source.File))
			continue
		}
		for _, program := range programs {
			if !p.finds(program) {
				list = append(list, fail(
					"hook "+name,
					fmt.Sprintf("command %q is not found", program),
					fmt.Sprintf(
						"install it, correct %s:%d, or set disabled: true there",
						h.Source.File,
						h.Source.Line,
					),
				))
			}
		}
	}
	if len(all) > 0 && !slices.ContainsFunc(list, func(f Finding) bool { return f.Level == Fail }) {
		text := wording.Count(len(all), "hook")
		if len(idle) > 0 {
			text += fmt.Sprintf(", %d of them disabled", len(idle))
		}
		list = append(list, ok("hooks", text))
	}
	return list
}

// finds reports whether a script would find a program.
func (p *patient) finds(program string) bool {
	suffixes := []string{""}
	if runtime.GOOS == "windows" {
		suffixes = append(suffixes, ".exe", ".bat", ".cmd", ".com")
	}
	dirs := filepath.SplitList(p.app.Getenv("PATH"))
	if strings.ContainsAny(program, `/\`) {
		dirs = []string{p.workdir}
		if filepath.IsAbs(program) {
			dirs = []string{""}
		}
	}
	for _, dir := range dirs {
		for _, suffix := range suffixes {
			info, err := os.Stat(filepath.Join(dir, program) + suffix)
			if err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return true
			}
		}
	}
	return false
}

// plugins loads every plugin.
func plugins(ctx context.Context, p *patient) []Finding {
	if p.App.Plugins.Without {
		return []Finding{ok("plugins", "not loaded (--without-plugins)")}
	}
	infos, warnings, conflicts := p.app.ListPlugins(ctx)
	if err := ctx.Err(); err != nil {
		return []Finding{
			fail(
				"plugins",
				fmt.Sprintf("not loaded within %s", p.Patience),
				"start with --without-plugins, and add them one by one",
			),
		}
	}
	var list []Finding
	loaded := 0
	for _, i := range infos {
		switch i.Status {
		case plugin.Enabled:
			loaded++
		case plugin.Failed:
			list = append(list, fail(
				"plugin "+i.Name,
				i.Err.Error(),
				fmt.Sprintf(
					"mend it in %s, run \"aura plugins update %s\", or switch it off: aura plugins disable %s",
					i.Dir,
					i.Name,
					i.Name,
				),
			))
		}
	}
	if conflicts != nil {
		list = append(list, mistakes("plugins", conflicts, "")...)
	}
	for _, text := range warnings {
		list = append(list, warn("plugins", strings.TrimPrefix(text, "warning: "), ""))
	}
	if len(infos) > 0 && len(list) == 0 {
		text := wording.Count(len(infos), "plugin")
		if loaded < len(infos) {
			text += fmt.Sprintf(", %d of them switched off", len(infos)-loaded)
		}
		list = append(list, ok("plugins", text))
	}
	return list
}

// extensions looks at Python, and loads the extensions if there are any.
func extensions(ctx context.Context, p *patient) []Finding {
	if p.App.NoExtensions {
		return []Finding{ok("extensions", "not loaded (--without-extensions)")}
	}
	py, err := app.FindPython(p.App)
	if err != nil {
		return mistakes("extensions", err, "")
	}
	active := pyext.Active(py.Found)
	// Without extensions Python does not matter.
	trouble := func(err error) []Finding {
		if len(active) == 0 {
			return []Finding{warn("python", err.Error(), "only needed for Python extensions, of which there are none")}
		}
		return []Finding{
			fail("python", err.Error(), fmt.Sprintf("%s cannot run without it", wording.Count(len(active), "extension"))),
		}
	}
	if py.Err != nil {
		return trouble(py.Err)
	}
	if _, err := py.Interpreter.Resolve(py.Cache); err != nil {
		return trouble(err)
	}
	list := []Finding{
		ok(
			"python",
			fmt.Sprintf("%s, %s (from %s)", py.Interpreter.Version(), py.Interpreter.Path, py.Interpreter.Origin),
		),
	}
	if len(active) == 0 {
		return list
	}
	loaded, err := py.Load(ctx)
	broken := 0
	for _, l := range loaded {
		if l.Error != "" {
			broken++
			list = append(
				list,
				fail(
					"extension "+l.Name,
					l.Error,
					fmt.Sprintf("mend %s and look again: aura extensions inspect %s", l.Path, l.Name),
				),
			)
		}
	}
	switch {
	case ctx.Err() != nil:
		list = append(
			list,
			fail(
				"extensions",
				fmt.Sprintf("not loaded within %s", p.Patience),
				"start with --without-extensions, and add them one by one",
			),
		)
	case err != nil && broken == 0:
		list = append(list, fail("extensions", err.Error(), ""))
	case broken == 0:
		list = append(list, ok("extensions", wording.Count(len(active), "extension")))
	}
	return list
}

func skillList(_ context.Context, p *patient) []Finding {
	list, problems := skills.Find(app.SkillPlaces(p.homes, p.workdir))
	var out []Finding
	for _, problem := range problems {
		out = append(out, fail("skill", problem.Error(), "the model cannot use it"))
	}
	if len(list) > 0 && len(out) == 0 {
		out = append(out, ok("skills", wording.Count(len(list), "skill")))
	}
	return out
}

// servers connects to all MCP servers.
func servers(ctx context.Context, p *patient) []Finding {
	hub, names, err := p.app.Servers()
	if err != nil {
		return mistakes("mcp", err, "")
	}
	if len(names) == 0 {
		return nil
	}
	defer hub.Close()
	hub.Start(names...)
	hub.Wait(ctx, names...)
	var list []Finding
	for _, s := range hub.Status() {
		name := "mcp " + s.Server.Name
		where := fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line)
		switch s.State {
		case mcp.Connected:
			list = append(list, ok(name, fmt.Sprintf("connected, %s", wording.Count(len(s.Tools), "tool"))))
		case mcp.Connecting:
			list = append(
				list,
				warn(name, fmt.Sprintf("no answer within %s", p.Patience), "a session waits longer; see "+where),
			)
		case mcp.Failed, mcp.Died:
			list = append(list, fail(name, s.Error, "correct "+where+", or set disabled: true there"))
		}
		for _, text := range s.Skipped {
			list = append(list, warn(name, text, ""))
		}
	}
	return list
}
