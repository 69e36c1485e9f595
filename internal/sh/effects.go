package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// writes reports whether a redirection writes to a file.
func (s *scan) writes(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrInOut, syntax.DplOut,
		syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
	default:
		return false
	}
	to := s.word(r.Word)
	if to.open {
		return true
	}
	switch to.literal {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return false
	}
	// `>&2` and `2>&1-` are about what is open already; `>&file` is not.
	return r.Op != syntax.DplOut || strings.Trim(to.literal, "0123456789-") != ""
}

// sets reports whether a part of a script sets variables by itself.
func sets(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		return len(n.Assigns) > 0
	case *syntax.DeclClause, *syntax.WordIter:
		return true
	case *syntax.ParamExp:
		return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
	case *syntax.UnaryArithm:
		return n.Op == syntax.Inc || n.Op == syntax.Dec
	case *syntax.BinaryArithm:
		return n.Op == syntax.Assgn || n.Op >= syntax.AddAssgn && n.Op <= syntax.PowAssgn
	}
	return false
}

// setsByName reports whether a command is one of the shell that sets variables.
func setsByName(words []term) bool {
	switch words[0].literal {
	case "export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "readarray", "getopts", "let":
		return true
	case "printf":
		return len(words) > 1 && (words[1].lead() || strings.HasPrefix(words[1].literal, "-v"))
	}
	return false
}
