package strictyaml

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// syntax reports YAML that cannot be read.
func (d *Decoder) syntax(src []byte, err error) {
	load, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		d.Errors.Add(d.File, 0, "", "%v", err)
		return
	}
	msg := strings.TrimPrefix(load.Message, "yaml: ")
	switch {
	case strings.Contains(msg, "no documents"):
		return
	case strings.Contains(msg, "found multiple"):
		d.Errors.Add(d.File, 0, "", "more than one YAML document (split the file)")
		return
	case load.ContextMsg != "" && load.ContextMark.Line > 0 && load.ContextMark.Line != load.Mark.Line:
		msg = load.ContextMsg + " that starts on line " + strconv.Itoa(load.ContextMark.Line+d.shift()) + ": " + msg
	case load.ContextMsg != "":
		msg = load.ContextMsg + ": " + msg
	}
	line := load.Mark.Line
	if line == 0 {
		line = 1 + strings.Count(string(src[:min(max(load.Mark.Index, 0), len(src))]), "\n")
	}
	if strings.HasSuffix(msg, "cannot start any token") && tabbed(src, line) {
		msg = "a tab where blanks are expected (YAML is indented with blanks only)"
	}
	d.Errors.Add(d.File, line+d.shift(), "", "invalid YAML: %s", msg)
}

// tabbed reports whether a line, counted from 1, begins with a tab.
func tabbed(src []byte, line int) bool {
	lines := strings.Split(string(src), "\n")
	return line <= len(lines) && strings.HasPrefix(strings.TrimLeft(lines[line-1], " "), "\t")
}
