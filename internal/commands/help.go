package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

func help(_ context.Context, s *Session, args string) error {
	list := s.Commands()
	if args != "" {
		c, err := Find(list, strings.TrimPrefix(args, "/"))
		if err != nil {
			return err
		}
		s.Print(explain(c))
		return nil
	}
	var groups []string
	rows := map[string][][]string{}
	for _, c := range list {
		if !slices.Contains(groups, c.Group) {
			groups = append(groups, c.Group)
		}
		text := clip(c.Description, 100)
		if c.Source != "" {
			text = strings.TrimSpace(fmt.Sprintf("%s (%s)", text, c.Source))
		}
		rows[c.Group] = append(rows[c.Group], []string{signature(c), text})
	}
	var parts []string
	for _, g := range groups {
		title := g
		if title == "" {
			title = "Added" // By custom commands and extensions.
		}
		parts = append(parts, title+"\n"+wording.Columns("  ", rows[g]))
	}
	s.Print(strings.Join(append(parts, "/help <command> explains one of them."), "\n\n"))
	return nil
}

// signature is a command as it is typed.
func signature(c Command) string {
	return strings.Join(append([]string{"/" + c.Name}, c.Hints...), " ")
}

// explain is everything there is to say about a command.
func explain(c Command) string {
	parts := []string{signature(c) + "\n" + c.Description}
	if c.Details != "" {
		parts = append(parts, c.Details)
	}
	if c.Source != "" {
		parts = append(parts, "From "+c.Source)
	}
	return strings.Join(parts, "\n\n")
}
