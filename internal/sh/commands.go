package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Commands lists the simple commands of a script as they are written, one string
// each with single blanks: those behind `&&`, in pipes, loops, functions and
// substitutions too. A command that is only made at run time (eval, a variable as
// its name) cannot be seen here.
func Commands(script string) ([]string, error) {
	file, err := parse(script)
	if err != nil {
		return nil, err
	}
	printer := syntax.NewPrinter(syntax.SingleLine(true))
	var list []string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		words := make([]string, len(call.Args))
		for i, w := range call.Args {
			if words[i] = w.Lit(); words[i] != "" {
				continue
			}
			var b strings.Builder
			if printer.Print(&b, w) == nil {
				words[i] = unquote(b.String())
			}
		}
		list = append(list, strings.Join(words, " "))
		return true
	})
	return list, nil
}

// unquote removes the quotes of a word that is quoted as a whole, so that
// 'git' push is seen as git push.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] && !strings.Contains(s[1:len(s)-1], s[:1]) {
		return s[1 : len(s)-1]
	}
	return s
}
