package config

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/idelchi/aura/internal/strictyaml"
)

// LoadEnvFile reads variables from a file of KEY=value lines. Blank lines and lines that
// start with # are skipped, a leading `export` is allowed. Plain values end at " #" and are
// trimmed; 'single quotes' keep everything; "double quotes" know \n, \t, \r, \", \\ and \$.
// Quoted values may span lines. Nothing is expanded; the last of equal keys wins. A missing file
// is an error only when required. Mistakes are Errors and never show values.
func LoadEnvFile(path string, required bool) (map[string]string, error) {
	src, err := strictyaml.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil, nil
	}
	if err != nil {
		return nil, Errors{{File: path, Msg: err.Error()}}
	}
	return parseEnv(path, string(src))
}

func parseEnv(file, src string) (map[string]string, error) {
	var errs Errors
	vars := map[string]string{}
	src = strings.ReplaceAll(strings.TrimPrefix(src, "\ufeff"), "\r\n", "\n")
	for line := 1; src != ""; line++ {
		text, rest, _ := strings.Cut(src, "\n")
		entry := strings.TrimSpace(text)
		if entry == "" || entry[0] == '#' {
			src = rest
			continue
		}
		if after, ok := strings.CutPrefix(entry, "export"); ok && after != "" && (after[0] == ' ' || after[0] == '\t') {
			entry = strings.TrimSpace(after)
		}
		key, _, ok := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		if !ok || !variableName(key) {
			msg := "not KEY=value"
			if ok {
				msg = "bad variable name (letters, digits and _ only)"
			}
			errs.Add(file, line, "", "%s", msg)
			src = rest
			continue
		}
		value, used, msg := envValue(src[strings.IndexByte(src, '=')+1:])
		if msg != "" {
			errs.Add(file, line, key, "%s", msg)
			src = rest
			continue
		}
		vars[key] = value
		used += strings.IndexByte(src, '=') + 1
		line += strings.Count(src[:used], "\n")
		_, src, _ = strings.Cut(src[used:], "\n")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return vars, nil
}

func variableName(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}

// envValue reads a value off the start of text and says how many bytes it took, up to
// but not including the end of its last line.
func envValue(text string) (value string, used int, msg string) {
	start := len(text) - len(strings.TrimLeft(text, " \t"))
	if start == len(text) || (text[start] != '"' && text[start] != '\'') {
		line, _, _ := strings.Cut(text, "\n")
		value = line
		if i := strings.Index(strings.ReplaceAll(value, "\t#", " #"), " #"); i >= 0 {
			value = value[:i]
		}
		value = strings.TrimSpace(value)
		if strings.ContainsRune(value, 0) {
			return "", 0, "value has a NUL byte"
		}
		return value, len(line), ""
	}
	value, end := quoted(text[start:])
	if end < 0 {
		return "", 0, "quote is not closed"
	}
	after, _, _ := strings.Cut(text[start+end:], "\n")
	if tail := strings.TrimSpace(after); tail != "" && tail[0] != '#' {
		return "", 0, "text after the closing quote"
	}
	if strings.ContainsRune(value, 0) {
		return "", 0, "value has a NUL byte"
	}
	return value, start + end + len(after), ""
}

// quoted reads a quoted text and gives the index after its closing quote, or -1.
func quoted(text string) (string, int) {
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == quote:
			return b.String(), i + 1
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '"', '\\', '$':
				b.WriteByte(text[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", -1
}
