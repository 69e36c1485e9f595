// Package demo is a small project with a bug, the scripted model that fixes it, and those
// who step in meanwhile.
package demo

import (
	"context"
	"embed"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

//go:embed files
var files embed.FS

// Prompt is what the demonstration asks.
const Prompt = "The test in test.sh fails. Find out why and fix it."

// Write writes the project to dir and its configuration to home. python says that there
// is an interpreter for an extension.
func Write(dir, home string, python bool) error {
	places := map[string]string{
		"files/greet.sh":      filepath.Join(dir, "greet.sh"),
		"files/test.sh":       filepath.Join(dir, "test.sh"),
		"files/script.yaml":   filepath.Join(home, "script.yaml"),
		"files/hooks.yaml":    filepath.Join(home, "config", "hooks", "demo.yaml"),
		"files/tested.go.txt": filepath.Join(home, "plugins", "tested", "main.go"),
	}
	if python {
		places["files/tally.py"] = filepath.Join(dir, ".agent", "extensions", "tally.py")
	}
	texts := map[string][]byte{
		filepath.Join(home, "config", "providers", "demo.yaml"): []byte(
			"demo: {type: script, script: ../../script.yaml}\n",
		),
		// A directory with a go.mod cannot be embedded.
		filepath.Join(home, "plugins", "tested", "go.mod"): []byte(
			"module tested\n\ngo 1.25\n\nrequire github.com/idelchi/aura/sdk v0.0.0\n",
		),
		filepath.Join(home, "plugins", "tested", "plugin.yaml"): []byte("description: What was changed is tested\n"),
	}
	for from, to := range places {
		text, err := files.ReadFile(from)
		if err != nil {
			return err
		}
		texts[to] = text
	}
	for file, text := range texts {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Narrate shows every moment of the lifecycle as it passes.
func Narrate(note func(string)) []lifecycle.Binding {
	var list []lifecycle.Binding
	for _, row := range lifecycle.Moments() {
		if row.Moment == lifecycle.StreamChunk || row.Moment == lifecycle.TransformMessages {
			continue // Too many to read.
		}
		list = append(list, lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Guard, Name: "demo"}, Moment: row.Moment,
			Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				detail := ""
				switch d := ev.Data.(type) {
				case *sdk.BeforeToolContext:
					detail = " " + d.ToolName
				case *sdk.AfterToolContext:
					detail = " " + d.ToolName
				}
				note("  · " + string(ev.Moment) + detail)
				return lifecycle.Reply{}, nil
			}),
		})
	}
	return list
}
