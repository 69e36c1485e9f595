package plugin

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Kind is Go plugins as a kind of extension. without leaves them all out.
func Kind(o Options, without bool) extension.Kind {
	return extension.Kind{
		Name: "plugins", Title: "Plugins", Handlers: lifecycle.Plugin, Taken: taken,
		Load: func(ctx context.Context, _ *extension.Loaded) (extension.Loaded, error) {
			// Nothing is set up where there is nothing to load.
			if without || !Present(o.Dirs) {
				return extension.Loaded{Value: (*Set)(nil)}, nil
			}
			silenceInterpreter()
			set, err := Load(ctx, o)
			if err != nil {
				return extension.Loaded{}, err
			}
			return extension.Loaded{
				Bindings: set.Bindings, Tools: set.Tools, Commands: set.Commands, List: set.items,
				Close: set.Close, Value: set,
			}, nil
		},
		Check: func(ctx context.Context, limit time.Duration) []extension.Finding {
			if without {
				return []extension.Finding{{Subject: "plugins", Text: "not loaded (--without-plugins)"}}
			}
			return check(ctx, o, limit)
		},
	}
}

// silenceInterpreter drops what the interpreter writes to the standard logger about
// failures that it reports as errors too; nothing of ours writes there.
func silenceInterpreter() { log.SetOutput(io.Discard) }

// taken is the error of a plugin whose tool has the name of another one.
func taken(t, owner tool.Tool) error {
	return fmt.Errorf(
		"plugin %q: there is a tool %q already (%s): write \"override: true\" into its plugin.yaml to replace it",
		t.Source.Name, t.Name, strings.TrimSpace(owner.Source.Kind+" "+owner.Source.Name))
}

// items describes all plugins that were found.
func (s *Set) items() []extension.Item {
	off := map[string]string{}
	for _, p := range s.plugins {
		off[p.name] = p.guard.Why()
	}
	var list []extension.Item
	for _, i := range s.infos {
		item := extension.Item{
			Name: i.Name, Status: string(i.Status), Path: i.Dir, Description: i.Description, Moments: i.Hooks,
		}
		if i.Status == Enabled {
			item.Status = "active"
			if why := off[i.Name]; why != "" {
				item.Status, item.Problem = "off", why
			}
		}
		if i.Tool != "" {
			item.Tools = []string{i.Tool}
		}
		if i.Command != "" {
			item.Commands = []string{i.Command}
		}
		if i.Err != nil {
			item.Problem = i.Err.Error()
		}
		list = append(list, item)
	}
	return list
}

// List describes every plugin, also those that cannot be loaded, with warnings about the
// others; err tells about names that are taken. The plugins are loaded for
// it and released again.
func List(ctx context.Context, o Options) (list []Info, warnings []string, err error) {
	if !Present(o.Dirs) {
		return nil, nil, nil
	}
	o.Lenient = true
	o.Warn = func(text string) { warnings = append(warnings, text) }
	silenceInterpreter()
	set, err := Load(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer set.Close()
	_, _, err = extension.Merge(o.Builtin, set.Tools(), taken)
	return set.Plugins(), warnings, err
}

// check loads every plugin.
func check(ctx context.Context, o Options, limit time.Duration) []extension.Finding {
	infos, warnings, conflicts := List(ctx, o)
	if ctx.Err() != nil {
		return []extension.Finding{{
			Level: extension.Error, Subject: "plugins", Text: fmt.Sprintf("not loaded within %s", limit),
			Hint: "start with --without-plugins, and add them one by one",
		}}
	}
	var list []extension.Finding
	loaded := 0
	for _, i := range infos {
		switch i.Status {
		case Enabled:
			loaded++
		case Failed:
			list = append(list, extension.Finding{
				Level: extension.Error, Subject: "plugin " + i.Name, Text: i.Err.Error(),
				Hint: fmt.Sprintf("mend it in %s, run \"aura plugins update %s\", or switch it off: "+
					"aura plugins disable %s", i.Dir, i.Name, i.Name),
			})
		}
	}
	if conflicts != nil {
		list = append(list, extension.Mistakes("plugins", conflicts)...)
	}
	for _, text := range warnings {
		list = append(list, extension.Finding{
			Level: extension.Warn, Subject: "plugins", Text: strings.TrimPrefix(text, "warning: "),
		})
	}
	if len(infos) > 0 && len(list) == 0 {
		text := extension.Count(len(infos), "plugin")
		if loaded < len(infos) {
			text += fmt.Sprintf(", %d of them switched off", len(infos)-loaded)
		}
		list = append(list, extension.Finding{Subject: "plugins", Text: text})
	}
	return list
}
