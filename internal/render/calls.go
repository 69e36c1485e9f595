// Package render puts into words and lines what both faces show: tool calls, what they will change, the choices
// of an approval, durations. It colors nothing and writes nowhere.
package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// descriptive lists the arguments that say best what a call does, in this order.
var descriptive = [...]string{
	"command",
	"path",
	"file_path",
	"pattern",
	"url",
	"query",
	"name",
	"description",
	"question",
	"summary",
}

// Describe is a tool call in one line: the tool and what it is about.
func Describe(tool string, args map[string]any) string {
	about := ""
	for _, name := range descriptive {
		if v, ok := args[name].(string); ok && v != "" {
			about = v
			break
		}
	}
	switch {
	case about != "":
	case tool == "Patch":
		text, _ := args["patch"].(string)
		about = strings.Join(patchFiles(text), " ")
	case len(args) > 0:
		about = pairs(args)
	}
	return strings.TrimSpace(terminal.OneLine(tool) + " " + terminal.OneLine(about))
}

// pairs shows all arguments.
func pairs(args map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if b.Len() > 500 {
			b.WriteString("…")
			break
		}
		value, ok := args[name].(string)
		if !ok {
			value = compact(args[name])
		}
		fmt.Fprintf(&b, "%s=%s ", name, width.Fit(value, 200))
	}
	return b.String()
}

func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// patchFiles lists the files that a patch names.
func patchFiles(patch string) []string {
	var files []string
	for text := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(text), head); ok && len(files) < 20 {
				files = append(files, name)
			}
		}
	}
	return files
}

// Took is how long something took, for a user to read.
func Took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// Retry tells of a request that is sent again after a delay, and why.
func Retry(delay time.Duration, reason string) string {
	return fmt.Sprintf("retrying in %s (%s)", max(delay.Round(time.Second), time.Second), reason)
}

// Switched tells that another agent is active, and who or what switched to it.
func Switched(agent, by string) string {
	if by == "" {
		return "agent " + agent
	}
	return fmt.Sprintf("agent %s (%s)", agent, by)
}
