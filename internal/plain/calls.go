package plain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// telling lists the arguments that say best what a call does, in this order.
var telling = [...]string{
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

// describe is a call in one line: the tool and what it is about.
func describe(tool string, args map[string]any) string {
	about := ""
	for _, name := range telling {
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
	return strings.TrimSpace(oneLine(tool) + " " + oneLine(about))
}

// pairs shows arguments without a telling one.
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
		fmt.Fprintf(&b, "%s=%s ", name, fit(value, 200))
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

// took is a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
