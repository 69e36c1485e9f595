package sh

import (
	"slices"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Programs lists the programs that a script starts in any case, as they are written:
// simple commands and pipes that depend on nothing. What stands behind `&&`, in
// loops or in functions is left out: the script may have asked first whether it is
// there. So are builtins, functions, and everything once the script changes where
// programs are found.
func Programs(script string) ([]string, error) {
	file, err := parse(script)
	if err != nil {
		return nil, err
	}
	var list, functions []string
	for _, stmt := range file.Stmts {
		if f, ok := stmt.Cmd.(*syntax.FuncDecl); ok {
			functions = append(functions, f.Name.Value)
			continue
		}
		if !programsOf(stmt.Cmd, &list) {
			break
		}
	}
	return slices.DeleteFunc(list, func(name string) bool {
		return interp.IsBuiltin(name) || slices.Contains(functions, name)
	}), nil
}

// programsOf adds the programs of a command to the list. It reports false if what
// follows cannot be judged any more.
func programsOf(cmd syntax.Command, list *[]string) bool {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			return false // As in `command -v x || exit 0`.
		}
		return programsOf(c.X.Cmd, list) && programsOf(c.Y.Cmd, list)
	case *syntax.CallExpr:
		if setsPath(c.Assigns) {
			return false
		}
		if len(c.Args) == 0 {
			return true
		}
		name := c.Args[0].Lit()
		if slices.Contains([]string{".", "source", "eval", "alias", "cd", "exec", "exit", "return"}, name) {
			return false
		}
		if name != "" {
			*list = append(*list, name)
		}
	case *syntax.DeclClause:
		return !setsPath(c.Args)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.Block, *syntax.Subshell:
		return false // It may end the script, or set the stage for what follows.
	}
	return true
}

func setsPath(assigns []*syntax.Assign) bool {
	return slices.ContainsFunc(assigns, func(a *syntax.Assign) bool { return a.Name != nil && a.Name.Value == "PATH" })
}
