package commands

import (
	"github.com/idelchi/aura/internal/wording"
)

// clip makes text one line of at most limit characters.
func clip(text string, limit int) string {
	return wording.Line(text, limit)
}

// mark is the first column of lists in which one row is active.
func mark(active bool) string {
	if active {
		return "*"
	}
	return " "
}

// choices renders a list to pick from.
func choices(list []Choice) string {
	rows := make([][]string, len(list))
	for i, c := range list {
		rows[i] = []string{mark(c.Active) + " " + c.Name, clip(c.Description, 80)}
	}
	return wording.Columns("", rows)
}
