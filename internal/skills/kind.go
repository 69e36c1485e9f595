package skills

import (
	"context"
	"path/filepath"
	"time"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

// Set is the skills of a session.
type Set struct {
	Skills   []Skill
	Problems []Problem
}

// Kind is skills as a kind of extension.
func Kind(places []Place) extension.Kind {
	return extension.Kind{
		Name: "skills", Title: "Skills",
		Load: func(context.Context, *extension.Loaded) (extension.Loaded, error) {
			s := &Set{}
			s.Skills, s.Problems = Find(places)
			return extension.Loaded{Tools: s.tools, List: s.items, Problems: s.problems, Value: s}, nil
		},
		Check: func(context.Context, time.Duration) []extension.Finding { return check(places) },
	}
}

// List are the skills; the nil Set has none.
func (s *Set) List() []Skill {
	if s == nil {
		return nil
	}
	return s.Skills
}

// Text is a skill as the model reads it.
func (s *Set) Text(name string) (string, error) {
	x, err := Get(s.List(), name)
	if err != nil {
		return "", err
	}
	return x.Text(), nil
}

// Table lists the skills.
func (s *Set) Table() string {
	list := s.List()
	if len(list) == 0 {
		return "there are no skills (put one into .aura/skills)"
	}
	rows := make([][]string, len(list))
	for i, x := range list {
		mark := ""
		if x.Manual {
			mark = "manual"
		}
		rows[i] = []string{x.Name, x.Source, mark, wording.Line(x.Description, 80)}
	}
	return wording.Columns("", rows)
}

// tools is the one with which the model fetches skills.
func (s *Set) tools() []tool.Tool {
	if t, ok := Tool(s.Skills); ok {
		return []tool.Tool{t}
	}
	return nil
}

func (s *Set) items() []extension.Item {
	var list []extension.Item
	for _, x := range s.Skills {
		status := "active"
		if x.Manual {
			status = "manual"
		}
		list = append(list, extension.Item{
			Name: x.Name, Status: status, Origin: x.Source, Path: x.File, Description: x.Description,
		})
	}
	for _, p := range s.Problems {
		list = append(
			list,
			extension.Item{Name: filepath.Base(p.File), Status: "off", Path: p.File, Problem: p.Error()},
		)
	}
	return list
}

func (s *Set) problems() []extension.Problem {
	var list []extension.Problem
	for _, p := range s.Problems {
		list = append(list, extension.Problem{Text: p.Error()})
	}
	return list
}

func check(places []Place) (out []extension.Finding) {
	list, problems := Find(places)
	for _, p := range problems {
		out = append(out, extension.Finding{
			Level: extension.Error, Subject: "skill", Text: p.Error(), Hint: "the model cannot use it",
		})
	}
	if len(list) > 0 && len(out) == 0 {
		out = append(out, extension.Finding{Subject: "skills", Text: extension.Count(len(list), "skill")})
	}
	return out
}
