package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/agent"
)

// Text is a command that somebody wrote in Markdown.
type Text struct {
	Name        string
	Description string
	Hints       []string // Labels of the arguments.
	Body        string
	File        string
}

// Custom makes commands of what people wrote in Markdown: each sends its text to the
// model, with the arguments in their places.
func Custom(list []Text) []Command {
	out := make([]Command, len(list))
	for i, c := range list {
		out[i] = Command{
			Name: strings.ToLower(c.Name), Description: c.Description, Hints: c.Hints,
			Details: "Sends this to the model:\n\n" + c.Body, Source: "custom command " + c.File,
			Template: true,
			Prompt: func(_ context.Context, _ *Session, args string) (agent.Input, error) {
				text, err := expand(c.Body, args)
				if err != nil {
					return agent.Input{}, fmt.Errorf("/%s: %w", c.Name, err)
				}
				return agent.Input{Text: text}, nil
			},
		}
	}
	return out
}

// Merge joins lists of commands. Where two have the same name, that of the earlier
// list counts; hidden are the others.
func Merge(lists ...[]Command) (all, hidden []Command) {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, c := range list {
			if key := strings.ToLower(c.Name); seen[key] {
				hidden = append(hidden, c)
			} else {
				seen[key] = true
				all = append(all, c)
			}
		}
	}
	return all, hidden
}

// argumentsWord stands for everything that was typed after the name of a command.
const argumentsWord = "ARGUMENTS"

// expand puts arguments into the text of a command: $1, $2 ... are the words, nothing
// if there are fewer; $ARGUMENTS is all of them as typed. A backslash before the
// dollar sign keeps it. A text without any such place gets the arguments at its end,
// so that they are never lost.
func expand(body, args string) (string, error) {
	args = strings.TrimSpace(args)
	var b strings.Builder
	var list []string
	split, used := false, false
	for i := 0; i < len(body); {
		if body[i] == '\\' && i+1 < len(body) {
			if n, _ := placeholder(body[i+1:]); n > 0 {
				b.WriteString(body[i+1 : i+1+n])
				i += 1 + n
				continue
			}
		}
		n, index := placeholder(body[i:])
		switch {
		case n == 0:
			b.WriteByte(body[i])
			i++
			continue
		case index == 0:
			b.WriteString(args)
		default:
			if !split {
				var err error
				if list, err = words(args); err != nil {
					return "", err
				}
				split = true
			}
			if index <= len(list) {
				b.WriteString(list[index-1])
			}
		}
		used = true
		i += n
	}
	if !used && args != "" {
		b.WriteString("\n\n" + args)
	}
	return b.String(), nil
}

// placeholder measures the place for an argument at the beginning of s; 0 if there is
// none. index is the number of the word, 0 for all of them.
func placeholder(s string) (length, index int) {
	if len(s) < 2 || s[0] != '$' {
		return 0, 0
	}
	end := 1
	for end < len(s) && wordByte(s[end]) {
		end++
	}
	if s[1:end] == argumentsWord {
		return end, 0
	}
	end = 1
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	// $1st is the first word and "st"; $0 and $007 are no places.
	if n, err := strconv.Atoi(s[1:end]); err == nil && s[1] != '0' {
		return end, n
	}
	return 0, 0
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// words splits arguments at blanks. Double quotes keep a word together and are
// removed; inside them \" and \\ stand for the second character. Single quotes mean
// nothing: people write apostrophes.
func words(args string) ([]string, error) {
	var list []string
	var word strings.Builder
	open := false // A word has begun, perhaps an empty one.
	for i := 0; i < len(args); {
		switch {
		case isBlank(args[i]):
			if open {
				list = append(list, word.String())
				word.Reset()
			}
			open = false
			i++
		case args[i] == '"':
			quoted, n, ok := unquote(args[i:])
			if !ok {
				return nil, fmt.Errorf("quote is not closed: %s", clip(args[i:], 40))
			}
			word.WriteString(quoted)
			open = true
			i += n
		default:
			word.WriteByte(args[i])
			open = true
			i++
		}
	}
	if open {
		list = append(list, word.String())
	}
	return list, nil
}
