package tasks

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/idelchi/aura/internal/templates"
	"github.com/idelchi/aura/internal/wording"
)

// What encloses a template that is expanded before each line runs.
const (
	openStep  = "$[["
	closeStep = "]]"
)

// maxExpanded bounds what a template may make of a line.
const maxExpanded = 1 << 20

// startData is what {{ }} knows.
type startData struct {
	Vars    map[string]string
	Workdir string
	Date    date
	Env     map[string]string
}

// stepData is what $[[ ]] knows.
type stepData struct {
	Item  string
	Index int // From 1.
	Total int
	Last  string
}

// date is a time that prints as its day and can be formatted otherwise.
type date struct{ time.Time }

func (d date) String() string { return d.Format(time.DateOnly) }

// The fields of the two, for checking.
var (
	startFields = []string{"Vars", "Workdir", "Date", "Env"}
	stepFields  = []string{"Item", "Index", "Total", "Last"}
)

func parseTemplate(text, left, right string) (*template.Template, error) {
	t, err := templates.New("").Delims(left, right).Funcs(template.FuncMap{"quote": quote}).Parse(text)
	if err != nil {
		return nil, templateError(err)
	}
	if len(t.Templates()) > 1 {
		return nil, errors.New("template: define and block are not for tasks")
	}
	return t, nil
}

// templateError words an error of a template, which has no name here.
func templateError(err error) error {
	return errors.New("template: line " + strings.TrimPrefix(err.Error(), "template: :"))
}

// quote makes one word for the shell of a text, whatever is in it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// checkStart finds mistakes in the {{ }} of a text.
func checkStart(text string) error {
	if strings.ContainsRune(text, 0) {
		return errors.New("NUL byte in the text")
	}
	masked, _ := mask(text)
	return checkTemplate(masked, "{{", "}}", startFields)
}

// checkStep finds mistakes in the $[[ ]] of a text.
func checkStep(text string) error { return checkTemplate(text, openStep, closeStep, stepFields) }

func checkTemplate(text, left, right string, fields []string) error {
	if !strings.Contains(text, left) {
		return nil
	}
	t, err := parseTemplate(text, left, right)
	if err != nil || t.Tree == nil {
		return err
	}
	return checkFields(t.Root, fields)
}

// checkFields reports the first field below n that does not exist. Inside range and
// with, where the dot is something else, everything may.
func checkFields(n parse.Node, fields []string) error {
	field := func(name string) error {
		if slices.Contains(fields, name) {
			return nil
		}
		hint := "there are ." + strings.Join(fields, ", .")
		if near := wording.Closest(name, fields); near != "" {
			hint = fmt.Sprintf("did you mean .%s?", near)
		}
		return fmt.Errorf("template: no .%s here (%s)", name, hint)
	}
	branch := func(b *parse.BranchNode, inside bool) error {
		err := checkFields(b.Pipe, fields)
		if inside && err == nil {
			err = checkFields(b.List, fields)
		}
		if b.ElseList != nil && err == nil {
			err = checkFields(b.ElseList, fields)
		}
		return err
	}
	var below []parse.Node
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			below = n.Nodes
		}
	case *parse.ActionNode:
		return checkFields(n.Pipe, fields)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			below = append(below, c)
		}
	case *parse.CommandNode:
		below = n.Args
	case *parse.ChainNode:
		return checkFields(n.Node, fields)
	case *parse.IfNode:
		return branch(&n.BranchNode, true)
	case *parse.RangeNode:
		return branch(&n.BranchNode, false)
	case *parse.WithNode:
		return branch(&n.BranchNode, false)
	case *parse.TemplateNode:
		return errors.New("template: there is nothing to include in a task")
	case *parse.FieldNode:
		return field(n.Ident[0])
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			return field(n.Ident[1])
		}
	}
	for _, child := range below {
		if err := checkFields(child, fields); err != nil {
			return err
		}
	}
	return nil
}

// mask puts marks in the place of every $[[ ]], so that {{ }} inside of them is left
// alone.
func mask(text string) (masked string, actions []string) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, openStep)
		b.WriteString(before)
		if !ok {
			return b.String(), actions
		}
		action, after, ok := strings.Cut(rest, closeStep)
		if !ok { // Checked elsewhere; nothing can be expanded after it.
			action, after = rest, ""
		} else {
			action += closeStep
		}
		b.WriteString("\x00" + strconv.Itoa(len(actions)) + "\x00")
		actions = append(actions, openStep+action)
		text = after
	}
}

// expandStart expands {{ }}.
func expandStart(text string, data startData) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	return execute(text, "{{", "}}", data)
}

// expandLine expands {{ }} in a text that is expanded again before it runs. What the
// values hold is not looked at then: a $[[ in one of them stays text.
func expandLine(text string, data startData) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	masked, actions := mask(text)
	out, err := execute(masked, "{{", "}}", data)
	if err != nil {
		return "", err
	}
	out = strings.ReplaceAll(out, openStep, openStep+strconv.Quote(openStep)+closeStep)
	for i, action := range actions {
		out = strings.ReplaceAll(out, "\x00"+strconv.Itoa(i)+"\x00", action)
	}
	return out, nil
}

// expandStep expands $[[ ]].
func expandStep(text string, data stepData) (string, error) {
	if !strings.Contains(text, openStep) {
		return text, nil
	}
	return execute(text, openStep, closeStep, data)
}

func execute(text, left, right string, data any) (string, error) {
	t, err := parseTemplate(text, left, right)
	if err != nil {
		return "", err
	}
	out := &bounded{}
	if err := t.Execute(out, data); err != nil {
		return "", templateError(err)
	}
	return out.String(), nil
}

// bounded is a text that refuses to grow without end.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxExpanded {
		return 0, fmt.Errorf("it makes more than %d KiB", maxExpanded>>10)
	}
	return b.Builder.Write(p)
}

var _ io.Writer = (*bounded)(nil)
