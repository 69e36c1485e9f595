package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sh"
)

// Kind is shell hooks as a kind of extension.
func Kind(o Options) extension.Kind {
	return extension.Kind{
		Name: "hooks", Title: "Hooks", Handlers: lifecycle.Hook,
		Load: func(context.Context, *extension.Loaded) (extension.Loaded, error) {
			set, report, err := Load(o)
			if err != nil {
				return extension.Loaded{}, err
			}
			log := o.Logger
			if log == nil {
				log = slog.New(slog.DiscardHandler)
			}
			for _, line := range report {
				log.Warn("hooks", "import", line)
			}
			return extension.Loaded{Bindings: set.Bindings, List: set.items, Value: set}, nil
		},
		Check: func(context.Context, time.Duration) []extension.Finding { return check(o) },
	}
}

// Load makes the hooks of a session, those that are imported included. The report names
// what of imported hooks has no equivalent.
func Load(o Options) (set *Set, report []string, err error) {
	all := maps.Clone(o.Hooks)
	if all == nil {
		all = config.Hooks{}
	}
	for _, name := range o.Import {
		if name != "claude" {
			return nil, nil, fmt.Errorf("hooks.import: nothing is known about the hooks of %q (only claude)", name)
		}
		project := filepath.Join(o.Workdir, ".claude", "settings.json")
		files := [][2]string{{project, "project"}}
		if home, err := os.UserHomeDir(); err == nil && filepath.Join(home, ".claude", "settings.json") != project {
			files = append(files, [2]string{filepath.Join(home, ".claude", "settings.json"), "user"})
		}
		for _, file := range files {
			list, notes, err := ImportClaude(file[0], file[1])
			if err != nil {
				return nil, nil, fmt.Errorf("hooks.import: %w", err)
			}
			maps.Copy(all, list)
			report = append(report, notes...)
		}
	}
	o.Hooks = all
	set, err = NewSet(o)
	return set, report, err
}

// items describes all hooks: those that can run in running order, then the others.
func (s *Set) items() []extension.Item {
	var list []extension.Item
	add := func(h *config.Hook, status string) {
		moments := []string{h.Event}
		if h.Matcher != "" {
			moments[0] += " " + h.Matcher
		}
		list = append(list, extension.Item{
			Name: h.Name, Status: status, Path: fmt.Sprintf("%s:%d", h.Source.File, h.Source.Line),
			Description: h.Description, Moments: moments,
		})
	}
	for _, h := range s.order {
		add(h.hook, "active")
	}
	idle, why := s.Idle()
	for i := range idle {
		if !slices.ContainsFunc(s.order, func(h *bound) bool { return h.Name == idle[i].Name }) {
			add(&idle[i], why[i])
		}
	}
	return list
}

// check compiles the hooks and looks for the programs that they start.
func check(o Options) []extension.Finding {
	set, report, err := Load(o)
	if err != nil {
		return extension.Mistakes("hooks", err)
	}
	var list []extension.Finding
	for _, line := range report {
		list = append(list, extension.Finding{
			Level: extension.Warn, Subject: "hooks", Text: line, Hint: "it was imported from another program",
		})
	}
	all := set.Hooks()
	idle, _ := set.Idle()
	broken := false
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		if slices.ContainsFunc(idle, func(i config.Hook) bool { return i.Name == h.Name }) {
			continue
		}
		found := checkPrograms(o, &h)
		broken = broken || len(found) > 0
		list = append(list, found...)
	}
	if len(all) > 0 && !broken {
		text := extension.Count(len(all), "hook")
		if len(idle) > 0 {
			text += fmt.Sprintf(", %d of them disabled", len(idle))
		}
		list = append(list, extension.Finding{Subject: "hooks", Text: text})
	}
	return list
}

// checkPrograms looks for the programs that a hook starts.
func checkPrograms(o Options, h *config.Hook) (list []extension.Finding) {
	programs, err := sh.Programs(h.Command)
	if err != nil {
		return []extension.Finding{{
			Level: extension.Error, Subject: "hook " + h.Name, Text: err.Error(), Hint: h.Source.File,
		}}
	}
	for _, program := range programs {
		if !o.finds(program) {
			list = append(list, extension.Finding{
				Level: extension.Error, Subject: "hook " + h.Name,
				Text: fmt.Sprintf("command %q is not found", program),
				Hint: fmt.Sprintf(
					"install it, correct %s:%d, or set disabled: true there", h.Source.File, h.Source.Line,
				),
			})
		}
	}
	return list
}

// finds reports whether a script would find a program.
func (o *Options) finds(program string) bool {
	suffixes := []string{""}
	if runtime.GOOS == "windows" {
		suffixes = append(suffixes, ".exe", ".bat", ".cmd", ".com")
	}
	dirs := filepath.SplitList(o.path())
	if strings.ContainsAny(program, `/\`) {
		dirs = []string{o.Workdir}
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

// path is where the commands of hooks look for programs.
func (o *Options) path() string {
	if o.Env == nil {
		return os.Getenv("PATH")
	}
	for _, kv := range o.Env() {
		if name, value, _ := strings.Cut(kv, "="); name == "PATH" {
			return value
		}
	}
	return ""
}
