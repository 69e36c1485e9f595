package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/tool"
)

// Servers are the MCP servers of a session: their definitions, and the hub that holds
// the connections to them. After a reload the new definitions take the hub over.
type Servers struct {
	Hub  *Hub
	list []Server

	begun, over bool // The hub is ours, and it is no longer.
}

// Source is where the servers of a session come from, and how they are run.
type Source struct {
	Options
	Load    func() ([]Server, error) // Reads their definitions.
	Filters []tool.Filter            // What the agent leaves that a session begins with, for checks.
	Notice  func(text string)        // Tells the user something about servers.
}

// Kind is MCP servers as a kind of extension.
func Kind(o Source) extension.Kind {
	return extension.Kind{
		Name: "mcp", Title: "MCP servers",
		Load: func(_ context.Context, previous *extension.Loaded) (extension.Loaded, error) {
			list, err := o.Load()
			if err != nil {
				return extension.Loaded{}, err
			}
			s := &Servers{list: list}
			var before *Servers
			if previous != nil {
				before, _ = previous.Value.(*Servers)
			}
			if before == nil {
				s.Hub = New(list, o.Options)
			} else {
				s.Hub = before.Hub
			}
			return extension.Loaded{
				Tools: s.Hub.Tools, List: s.items, Value: s,
				Commands: func() []tool.Command { return s.Hub.commands(o.Notice) },
				Begin:    func() { s.begin(before) },
				Close:    s.close,
			}, nil
		},
		Check: o.check,
	}
}

// begin takes the hub over.
func (s *Servers) begin(before *Servers) {
	if s.begun = true; before != nil {
		before.over = true
		s.Hub.Update(s.list)
	}
}

func (s *Servers) close() {
	if s.begun && !s.over {
		s.Hub.Close()
	}
}

// Definitions are the servers, by name.
func (s *Servers) Definitions() []Server {
	if s == nil {
		return nil
	}
	return s.list
}

// Count is how many servers there are.
func (s *Servers) Count() int { return len(s.Definitions()) }

// Allowed names the servers that all filters leave. Case does not matter.
func (s *Servers) Allowed(filters ...tool.Filter) []string {
	lower := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = strings.ToLower(s)
		}
		return out
	}
	var names []string
	for _, x := range s.Definitions() {
		refused := slices.ContainsFunc(filters, func(f tool.Filter) bool {
			f = tool.Filter{Enabled: lower(f.Enabled), Disabled: lower(f.Disabled)}
			return !f.Allows(strings.ToLower(x.Name))
		})
		if !x.Disabled && !refused {
			names = append(names, x.Name)
		}
	}
	return names
}

// Deferred are patterns for the tools that a model must load first.
func (s *Servers) Deferred() []string {
	var patterns []string
	for _, x := range s.Definitions() {
		if x.Deferred {
			patterns = append(patterns, x.Pattern())
		}
	}
	return patterns
}

// Wanted are those of the named servers whose condition holds.
func (s *Servers) Wanted(
	ctx context.Context, names []string, snapshot func() tool.Context, shell func(context.Context, string) bool,
) []string {
	var wanted []string
	for _, x := range s.Definitions() {
		if !slices.Contains(names, x.Name) {
			continue
		}
		if when := x.When(); when != nil && !when.Eval(ctx, new(snapshot()), shell) {
			continue
		}
		wanted = append(wanted, x.Name)
	}
	return wanted
}

// commands are the prompts of the servers.
func (h *Hub) commands(notice func(text string)) []tool.Command {
	var list []tool.Command
	for _, p := range h.Prompts() {
		c := tool.Command{Source: tool.Source{Kind: "mcp"}}
		c.Name, c.Description, c.Forward, c.Silent = p.Name, p.Description, true, true
		for _, arg := range p.Arguments {
			hint := "[" + arg.Name + "]"
			if arg.Required {
				hint = "<" + arg.Name + ">"
			}
			c.Hints = append(c.Hints, hint)
		}
		c.Prompt = func(ctx context.Context, args string) (tool.Result, error) {
			r, err := h.Prompt(ctx, p.Name, args)
			for _, text := range h.Notices() {
				notice(text)
			}
			if err == nil && r.Text == "" && len(r.Images) == 0 {
				err = errors.New("the server sent an empty prompt")
			}
			return tool.Result{Text: r.Text, Images: r.Images}, err
		}
		list = append(list, c)
	}
	return list
}

func (s *Servers) items() []extension.Item {
	var list []extension.Item
	for _, x := range s.Hub.Status() {
		item := extension.Item{
			Name: x.Server.Name, Status: string(x.State), Path: fmt.Sprintf("%s:%d", x.Server.File, x.Server.Line),
			Description: x.Server.Target(), Problem: x.Error,
		}
		for _, t := range x.Tools {
			item.Tools = append(item.Tools, t.Name)
		}
		for _, p := range x.Prompts {
			item.Commands = append(item.Commands, p.Name)
		}
		list = append(list, item)
	}
	return list
}

// check connects to all servers that are not disabled.
func (o *Source) check(ctx context.Context, limit time.Duration) []extension.Finding {
	all, err := o.Load()
	if err != nil {
		return extension.Mistakes("mcp", err)
	}
	names := (&Servers{list: all}).Allowed(o.Filters...)
	if len(names) == 0 {
		return nil
	}
	hub := New(all, o.Options)
	defer hub.Close()
	hub.Start(names...)
	hub.Wait(ctx, names...)
	var list []extension.Finding
	for _, s := range hub.Status() {
		name := "mcp " + s.Server.Name
		where := fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line)
		switch s.State {
		case Connected:
			text := "connected, " + extension.Count(len(s.Tools), "tool")
			list = append(list, extension.Finding{Subject: name, Text: text})
		case Connecting:
			list = append(list, extension.Finding{
				Level: extension.Warn, Subject: name, Text: fmt.Sprintf("no answer within %s", limit),
				Hint: "a session waits longer; see " + where,
			})
		case Failed, Died:
			list = append(list, extension.Finding{
				Level: extension.Error, Subject: name, Text: s.Error,
				Hint: "correct " + where + ", or set disabled: true there",
			})
		}
		for _, text := range s.Skipped {
			list = append(list, extension.Finding{Level: extension.Warn, Subject: name, Text: text})
		}
	}
	return list
}
