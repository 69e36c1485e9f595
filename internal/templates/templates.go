// Package templates is the template language of texts that users write: the bodies of
// agents, modes and prompts, and the lines of tasks. What a template can refer to is the
// business of whoever executes it.
package templates

import (
	"strconv"
	"strings"
	"text/template"
)

// New is an empty template. Beside the functions of text/template there are join, lower,
// upper, trim and indent. A key that a map does not have gives its zero value.
func New(name string) *template.Template {
	return template.New(name).Option("missingkey=zero").Funcs(template.FuncMap{
		"join":   strings.Join,
		"lower":  strings.ToLower,
		"upper":  strings.ToUpper,
		"trim":   strings.TrimSpace,
		"indent": indent,
	})
}

// indent puts n blanks before every line that is not empty.
func indent(n int, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", min(max(n, 0), 80)) + line
		}
	}
	return strings.Join(lines, "\n")
}

// Mistake takes an error of the template of that name apart: the line it is on, from 1,
// and what is wrong.
func Mistake(name string, err error) (line int, msg string) {
	// template: agent:2:3: executing "agent" at <.Nothing>: can't evaluate field Nothing in type ...
	text := strings.TrimPrefix(err.Error(), "template: "+name+":")
	number, rest, _ := strings.Cut(text, ":")
	if line, err = strconv.Atoi(number); err != nil {
		return 1, text
	}
	return line, rest
}
