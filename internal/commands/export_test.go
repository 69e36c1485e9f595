package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/session"
)

func TestExport(t *testing.T) {
	w := newWorld(
		t,
		"loop: true\nturns:\n  - when: use a tool\n    repeat: 1\n    thinking: I shall look.\n"+
			"    calls: [{name: Look}]\n  - text: \"Here:\\n\\n```go\\nfunc main() {}\\n```\"\n",
	)
	w.fails("/export", "nothing has been said")
	w.do("Please use a tool.")
	id := w.Agent.Log().ID()
	printed := w.do("/export")
	contains(
		t,
		printed,
		"# Please use a tool.",
		"- session: "+id,
		"- agent: Coder",
		"\n## User\n\nPlease use a tool.\n",
		"> I shall look.",
		"**Calls Look**\n\n```json\n{}\n```",
		"**Result of Look**\n\n```\nok\n```",
		"## Assistant\n\nHere:\n\n```go",
	)

	dir := w.Agent.Snapshot().Workdir
	contains(t, w.do("/export talk.md"), "exported 4 messages to "+filepath.Join(dir, "talk.md"))
	text, err := os.ReadFile(filepath.Join(dir, "talk.md"))
	if err != nil || strings.TrimRight(string(text), "\n") != printed {
		t.Errorf("%v, the file differs from what is printed:\n%s", err, text)
	}
	w.fails("/export talk.md", "talk.md exists already", "choose another name")
	if again, _ := os.ReadFile(filepath.Join(dir, "talk.md")); string(again) != string(text) {
		t.Error("the file was changed")
	}
	w.fails("/export talk.txt", `"talk.txt"`, ".md or .json")
	w.fails("/export no/such/dir/talk.md", "export: ", "no such file or directory")

	w.do("/export " + filepath.Join(dir, "the talk.JSON"))
	text, err = os.ReadFile(filepath.Join(dir, "the talk.JSON"))
	if err != nil {
		t.Fatal(err)
	}
	var state session.State
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	if state.ID != id || len(state.Messages) != 4 || state.Meta.Agent != "Coder" ||
		state.Messages[1].ToolCalls[0].Name != "Look" {
		t.Errorf("%+v", state)
	}
}

// A code block in a result cannot end the block it stands in.
func TestExportFences(t *testing.T) {
	w := newWorld(t, "turns:\n  - calls: [{name: Look}]\n  - text: ok\n")
	w.do("go")
	msgs := w.Agent.Messages()
	msgs[2].Content = "````\nnested\n````"
	contains(t, commands.Markdown(session.State{Messages: msgs}), "`````\n````\nnested\n````\n`````\n")
}
