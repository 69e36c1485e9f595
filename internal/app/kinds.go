package app

import (
	"fmt"
	"os"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/workspace"
)

// kinds are the kinds of extensions of the session under a configuration.
func (a *App) kinds(cfg *config.Config, guards []lifecycle.Binding) ([]extension.Kind, error) {
	return a.KindsFor(cfg, workspace.Session{
		Guards: guards, Logger: a.log, Ask: a.face.Ask, Warn: a.warn, Notice: a.extensionNotice,
		Messages:  func() []message.Message { return a.agent.Messages() },
		MCPNotice: func(text string) { a.notices.say("mcp", text) },
	})
}

// warn shows a warning where it is seen without a debug log: on standard error
// while the program starts, later as a notice.
func (a *App) warn(text string) {
	if !a.notices.shown() {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	a.notices.say("plugins", text)
}

// extensionNotice shows what a Python extension says to the user; an empty name is all
// of them.
func (a *App) extensionNotice(name, text string) {
	source := "extensions"
	if name != "" {
		source = lifecycle.Source{Kind: lifecycle.Extension, Name: name}.String()
	}
	a.notices.say(source, text)
}
