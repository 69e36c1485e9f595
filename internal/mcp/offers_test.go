package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/tool"
)

// Questions of servers go to the user; without one they are refused.
func TestElicit(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		var asked []string
		replies := map[string][]string{"name": {"Ann"}, "age (optional)": {"41"}, "sure (optional)": {"yes"}}
		h := open(t, mcp.Options{Ask: func(_ context.Context, q tool.Question) ([]string, error) {
			asked = append(asked, q.Text)
			if len(asked) == 1 {
				return []string{"answer"}, nil
			}
			return replies[q.Text], nil
		}}, s)
		r, err := run(t.Context(), t, h, "mcp__srv__ask", nil)
		if err != nil || r.Text != `accept {"age":41,"name":"Ann","sure":true}` {
			t.Errorf("answer: %q, %v", r.Text, err)
		}
		if len(asked) != 4 || asked[0] != "MCP server srv asks: Who are you?" || asked[1] != "name" {
			t.Errorf("questions: %q", asked)
		}

		declines := open(
			t,
			mcp.Options{Ask: func(context.Context, tool.Question) ([]string, error) { return nil, errors.New("no") }},
			s,
		)
		if r, err := run(
			t.Context(),
			t,
			declines,
			"mcp__srv__ask",
			nil,
		); err != nil ||
			!strings.HasPrefix(r.Text, "decline") {
			t.Errorf("declined: %q, %v", r.Text, err)
		}
		nobody := open(t, mcp.Options{}, s)
		if _, err := run(
			t.Context(),
			t,
			nobody,
			"mcp__srv__ask",
			nil,
		); err == nil ||
			!strings.Contains(err.Error(), "elicitation") {
			t.Errorf("nobody there: %v", err)
		}
	})
}

// Prompts and resources.
func TestOffers(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		h := open(t, mcp.Options{}, s)
		for _, x := range []struct{ name, args, want, err string }{
			{"mcp__srv__greet", `Ann`, "Greet Ann", ""},
			{"mcp__srv__greet", `Ann very  warmly`, "Greet Ann very warmly", ""},
			{"mcp__srv__greet", `how=well who="Ann Smith"`, "Greet Ann Smith well", ""},
			{"mcp__srv__greet", ``, "", "missing: who"},
			{"mcp__srv__plain", ``, "Just do it", ""},
			{"mcp__srv__plain", `x`, "", "takes no arguments"},
			{"mcp__srv__none", ``, "", "no MCP prompt"},
		} {
			r, err := h.Prompt(t.Context(), x.name, x.args)
			if x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) ||
				x.err == "" && (err != nil || r.Text != x.want) {
				t.Errorf("%s %s: %q, %v", x.name, x.args, r.Text, err)
			}
		}
		info, err := h.Inspect(t.Context(), "SRV")
		if err != nil || len(info.Resources) != 1 || info.Resources[0].URI != "note:1" || len(info.Tools) == 0 {
			t.Errorf("inspect: %+v, %v", info, err)
		}
	})
}

// What does not change stays connected when the configuration is read anew.
func TestUpdate(t *testing.T) {
	t.Parallel()
	kept, changed, gone := stdio("kept", "good"), stdio("changed", "good"), stdio("gone", "good")
	h := open(t, mcp.Options{}, kept, changed, gone)
	changed = stdio("changed", "good")
	changed.Env["MORE"] = "1"
	h.Update([]mcp.Server{kept, changed, stdio("new", "good")})
	if got := h.Connected(); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("connected: %v", got)
	}
	h.Start("changed", "new")
	h.Wait(t.Context(), "changed", "new")
	if got := h.Connected(); !slices.Equal(got, []string{"changed", "kept", "new"}) {
		t.Errorf("connected: %v, %q", got, h.Notices())
	}
	if err := h.Reconnect(t.Context(), "kept"); err != nil {
		t.Error(err)
	}
	if got := h.Serving("mcp__new__echo"); !slices.Equal(got, []string{"new"}) {
		t.Errorf("serving: %v", got)
	}
}

// Many calls side by side, some of which kill the server.
func TestParallel(t *testing.T) {
	t.Parallel()
	h := open(t, mcp.Options{}, stdio("srv", "good"))
	echo, crash := find(t, h, "mcp__srv__echo"), find(t, h, "mcp__srv__crash")
	done := make(chan error)
	for i := range 20 {
		go func() {
			if i == 10 {
				_, err := crash.Execute(t.Context(), tool.Call{ID: "x"})
				if err == nil {
					err = errors.New("crash succeeded")
				} else {
					err = nil
				}
				done <- err
				return
			}
			text := fmt.Sprint(i)
			r, err := echo.Execute(t.Context(), tool.Call{ID: text, Args: map[string]any{"text": text}})
			if err == nil && r.Text != text {
				err = fmt.Errorf("%s answers %s", text, r.Text)
			} else if err != nil && strings.Contains(err.Error(), "MCP server srv") {
				err = nil // It was in the crash.
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
