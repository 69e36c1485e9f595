package config_test

import (
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
)

// HO-05 HO-07 HO-03: commands and tool definitions of all homes, the project's in
// place of the global ones.
func TestCommandsAndDefinitions(t *testing.T) {
	global := tree(t, map[string]string{
		"config/commands/a.md":   "---\nname: Fix\nhints: one\n---\nglobal",
		"config/commands/b.md":   "only global",
		"config/tools/t.yaml":    "Bash: {usage: global, description: global}\nRead: {disabled: true}\n",
		"config/tools/more.yaml": "",
	})
	project := tree(t, map[string]string{
		"config/commands/x/fix.md": "---\ndescription: d\nhints: [a, \"\", b]\n---\nproject",
		"config/tools/t.yml": "Bash:\n  usage: \"\"\n  parallel: no\n  condition: auto and todo_empty\n" +
			"  examples: [x, y]\nread: {}\n",
	})
	c, err := config.Load(config.Homes{Global: global, Projects: []string{project}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range c.Commands {
		got = append(got, x.Name+"/"+x.Description+"/"+strings.Join(x.Hints, " ")+"/"+x.Body)
	}
	if want := "b///only global, fix/d/a b/project"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	bash := c.Definitions["Bash"]
	if bash.Description != nil || bash.Usage == nil || *bash.Usage != "" || *bash.Examples.Text != "x\ny" ||
		*bash.Parallel ||
		bash.Condition.String() != "auto and todo_empty" {
		t.Errorf("Bash: %+v", bash)
	}
	if !c.Definitions["Read"].Disabled || c.Definitions["read"].Disabled || len(c.Definitions) != 3 {
		t.Errorf("definitions: %v", c.Definitions)
	}
}
