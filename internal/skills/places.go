package skills

import (
	"os"
	"path/filepath"
)

// Places lists where skills may be, later ones win: what other programs left in the
// user's home, the global home of aura, then the same of the project: dirs are the
// directories from the root of its repository down to the working directory, projects
// its homes. Without a global home nothing of the user counts.
func Places(global string, projects, dirs []string) []Place {
	var places []Place
	add := func(name, dir string, foreign bool) {
		places = append(places, Place{Name: name, Dir: filepath.Join(dir, "skills"), Foreign: foreign})
	}
	if global != "" {
		if home, err := os.UserHomeDir(); err == nil {
			add("~/.agents", filepath.Join(home, ".agents"), true)
			add("~/.claude", filepath.Join(home, ".claude"), true)
		}
		add("global", global, false)
	}
	for _, dir := range dirs {
		add(".agents", filepath.Join(dir, ".agents"), true)
		add(".claude", filepath.Join(dir, ".claude"), true)
	}
	for _, home := range projects {
		add("project", home, false)
	}
	return places
}
