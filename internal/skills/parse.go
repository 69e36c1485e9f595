package skills

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/markdown"
	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// own are the keys that mean something here.
var own = []string{"name", "description", "allowed-tools", "license", "metadata", "disable-model-invocation"}

// foreign are keys of the Agent Skills format and of programs that extend it. They
// are accepted and ignored.
var foreign = []string{
	"agent",
	"argument-hint",
	"arguments",
	"author",
	"compatibility",
	"context",
	"dependencies",
	"disallowed-tools",
	"effort",
	"hooks",
	"keywords",
	"mode",
	"model",
	"paths",
	"shell",
	"tags",
	"user-invocable",
	"version",
	"when_to_use",
}

// Parse reads the text of a skill. file gives the name of a skill that has none: its
// own, or that of the directory of a SKILL.md. warnings are about keys that nobody
// knows, unless lenient; an error means that the skill cannot be used.
func Parse(file string, src []byte, lenient bool) (s Skill, warnings []error, err error) {
	s = Skill{File: file, Dir: filepath.Dir(file), Name: defaultName(file)}
	if !utf8.Valid(src) {
		return s, nil, fmt.Errorf("%s: not UTF-8 text", file)
	}
	doc, err := markdown.Split(src)
	if e, ok := errors.AsType[*markdown.Error](err); ok {
		return s, nil, fmt.Errorf("%s:%d: %s", file, e.Line, e.Msg)
	}
	front, err := frontmatter(file, doc)
	if err != nil {
		return s, nil, err
	}
	if err := s.take(front); err != nil {
		return s, nil, fmt.Errorf("%s: %w", file, err)
	}
	if !lenient {
		warnings = unknownKeys(file, front)
	}
	s.Body = doc.Body
	if s.Description == "" {
		s.Description = firstText(doc.Body)
	}
	switch {
	case strings.TrimSpace(s.Body) == "":
		err = fmt.Errorf("%s: skill has no text after the frontmatter", file)
	case s.Description == "":
		err = fmt.Errorf("%s: skill has no description: the model chooses skills by it", file)
	case s.Name == "" || utf8.RuneCountInString(s.Name) > 100 ||
		strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		err = fmt.Errorf("%s: name: %q is not a name of up to 100 printable characters", file, wording.Line(s.Name, 60))
	}
	return s, warnings, err
}

func defaultName(file string) string {
	base := filepath.Base(file)
	if isBundle(base) {
		return filepath.Base(filepath.Dir(file))
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// frontmatter decodes the YAML of a skill. Other programs forgive values that would
// need quotes, such as "description: Use this when: ...", so there is a second try
// with all simple values quoted.
func frontmatter(file string, doc markdown.Document) (map[string]any, error) {
	front := map[string]any{}
	err := strictyaml.Decode(file, doc.FrontLine, doc.Front, &front)
	if err == nil {
		return front, nil
	}
	second := map[string]any{}
	if strictyaml.Decode(file, doc.FrontLine, quoteValues(doc.Front), &second) == nil {
		return second, nil
	}
	return nil, err
}

// quoteValues puts the values of `key: value` lines in quotes, unless they have
// some or are something else than plain text.
func quoteValues(src []byte) []byte {
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		key, value, ok := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		if !ok || value == "" || key == "" || strings.ContainsAny(key, " \t#\"'{[") ||
			strings.ContainsRune("\"'[{|>&*!#", rune(value[0])) {
			continue
		}
		lines[i] = key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return []byte(strings.Join(lines, "\n"))
}

// take sets what the frontmatter says.
func (s *Skill) take(front map[string]any) error {
	var errs []error
	text := func(key string, to *string) {
		switch v := front[key].(type) {
		case nil:
		case string:
			if v = strings.TrimSpace(v); v != "" {
				*to = v
			}
		default:
			errs = append(errs, fmt.Errorf("%s: want a string, got %v", key, wording.Line(fmt.Sprint(v), 60)))
		}
	}
	text("name", &s.Name)
	text("description", &s.Description)
	text("license", &s.License)
	var err error
	if s.Tools, err = toolList(front["allowed-tools"]); err != nil {
		errs = append(errs, fmt.Errorf("allowed-tools: %w", err))
	}
	switch v := front["disable-model-invocation"].(type) {
	case nil:
	case bool:
		s.Manual = v
	case string: // Quoted by the second try.
		s.Manual = strings.EqualFold(v, "true") || strings.EqualFold(v, "yes")
	default:
		errs = append(errs, errors.New("disable-model-invocation: want true or false"))
	}
	switch v := front["metadata"].(type) {
	case nil:
	case map[string]any:
		s.Metadata = map[string]string{}
		for key, value := range v {
			s.Metadata[key] = fmt.Sprint(value)
		}
	default:
		errs = append(errs, errors.New("metadata: want a mapping (key: value)"))
	}
	return errors.Join(errs...)
}

// toolList reads tools that are written as a list, or as text separated by commas
// or blanks. A pattern in parentheses belongs to its tool, blanks and all.
func toolList(v any) ([]string, error) {
	var out []string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, errors.New("want a list of tool names")
			}
			out = append(out, strings.TrimSpace(s))
		}
		return out, nil
	case string:
		depth := 0
		return strings.FieldsFunc(v, func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			case ' ', ',', '\t', '\n':
				return depth == 0
			}
			return false
		}), nil
	}
	return nil, errors.New("want tool names")
}

// unknownKeys warns about what is probably mistyped.
func unknownKeys(file string, front map[string]any) (warnings []error) {
	for _, key := range slices.Sorted(maps.Keys(front)) {
		if slices.Contains(own, key) || slices.Contains(foreign, key) {
			continue
		}
		hint := cmp.Or(wording.DidYouMean(key, own), "ignored")
		warnings = append(warnings, fmt.Errorf("%s: %s: unknown key (%s)", file, wording.Line(key, 60), hint))
	}
	return warnings
}

// firstText is the first line of a body that says something, without marks of a heading.
func firstText(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# \t")); line != "" {
			return wording.Line(line, 200)
		}
	}
	return ""
}
