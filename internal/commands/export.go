package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
)

const exportDetails = `The name decides the form: file.md is for people, file.json for programs; without
a name the Markdown is printed. A file that exists is never overwritten.`

func export(_ context.Context, s *Session, args string) error {
	state := exported(s)
	if len(state.Messages) == 0 {
		return errors.New("nothing to export: nothing has been said in this session yet")
	}
	var text []byte
	switch strings.ToLower(filepath.Ext(args)) {
	case ".json":
		encoded, err := json.MarshalIndent(state, "", "  ")
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		text = append(encoded, '\n')
	case ".md", ".markdown":
		text = []byte(Markdown(state))
	default:
		if args != "" {
			return fmt.Errorf("export: %q: the name must end in .md or .json", clip(args, 100))
		}
		s.Print(strings.TrimRight(Markdown(state), "\n"))
		return nil
	}
	path := args
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Agent.Snapshot().Workdir, path)
	}
	if err := writeNew(path, text); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.Print(fmt.Sprintf("exported %d messages to %s", len(state.Messages), path))
	return nil
}

// exported is the session as it would be saved now.
func exported(s *Session) session.State {
	state := session.State{
		Messages: slices.DeleteFunc(s.Agent.Messages(), func(m message.Message) bool { return !m.Saved() }),
	}
	c, p := s.Agent.Snapshot(), s.Agent.Profile()
	if log := s.Agent.Log(); log != nil {
		state.ID, state.Meta = log.ID(), log.Meta()
	}
	state.Meta.Title, state.Meta.Agent, state.Meta.Mode = c.SessionTitle, p.Agent, p.Mode
	state.Meta.Provider, state.Meta.Model, state.Meta.Workdir = p.Model.Provider, p.Model.Name, c.Workdir
	state.Meta.Stats = c.Stats
	return state
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already (choose another name, or delete it first)", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // Half a conversation is worse than none.
	}
	return err
}

// Markdown renders a session for people.
func Markdown(s session.State) string {
	var b strings.Builder
	title := s.Meta.Title
	if title == "" {
		title = "Conversation"
	}
	fmt.Fprintf(&b, "# %s\n\n", strings.Join(strings.Fields(title), " "))
	for _, row := range [][2]string{
		{"session", s.ID}, {"agent", s.Meta.Agent}, {"mode", s.Meta.Mode}, {"model", s.Meta.Model},
		{"directory", s.Meta.Workdir},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", row[0], row[1])
		}
	}
	if !s.Meta.Created.IsZero() {
		fmt.Fprintf(&b, "- begun: %s\n", s.Meta.Created.Format(time.DateTime))
	}
	for i := range s.Messages {
		markdownMessage(&b, &s.Messages[i])
	}
	return b.String()
}

// speakers are the headings of messages by role.
var speakers = map[string]string{message.User: "User", message.Assistant: "Assistant", message.System: "System"}

func markdownMessage(b *strings.Builder, m *message.Message) {
	switch {
	case m.Role == message.Tool:
		failed := ""
		if m.Failed {
			failed = " (failed)"
		}
		fmt.Fprintf(b, "\n**Result of %s**%s\n\n%s", m.ToolName, failed, fenced("", m.Content))
	case m.Type == message.DisplayOnly:
		fmt.Fprintf(b, "\n> **%s:** %s\n", m.Source, strings.ReplaceAll(strings.TrimSpace(m.Content), "\n", "\n> "))
		return
	default:
		who := speakers[m.Role]
		if m.Source != "" {
			who += ", by " + m.Source
		}
		fmt.Fprintf(b, "\n## %s\n", who)
		if m.Thinking != "" {
			fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(strings.TrimSpace(m.Thinking), "\n", "\n> "))
		}
		if text := strings.TrimSpace(m.Content); text != "" {
			fmt.Fprintf(b, "\n%s\n", text)
		}
	}
	for _, c := range m.ToolCalls {
		fmt.Fprintf(b, "\n**Calls %s**\n\n%s", c.Name, fenced("json", tool.ArgsJSON(c.Arguments)))
	}
	for _, image := range m.Images {
		fmt.Fprintf(b, "\n*(an image, %s, %d bytes)*\n", image.MediaType, len(image.Data))
	}
}

// fenced is a code block whose fence is longer than any in the text.
func fenced(language, text string) string {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// MessageText renders one message of a conversation for reading on a terminal.
func MessageText(m *message.Message) string {
	who := m.Role
	if m.Role == message.Tool {
		who = "result of " + m.ToolName
	}
	if m.Source != "" {
		who += ", " + m.Source
	}
	text := "[" + who + "]"
	if m.Content != "" {
		text += " " + m.Content
	}
	for _, c := range m.ToolCalls {
		text += fmt.Sprintf("\n  → %s %s", c.Name, tool.ArgsJSON(c.Arguments))
	}
	return text
}
