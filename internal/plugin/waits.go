package plugin

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// swift are packages of the standard library whose functions return by themselves,
// soon, and need nobody for it. What waits looks for is the exception.
var swift = []string{
	"bytes",
	"cmp",
	"context",
	"encoding/base64",
	"encoding/hex",
	"encoding/json",
	"errors",
	"fmt",
	"hash/fnv",
	"html",
	"maps",
	"math",
	"math/bits",
	"math/rand",
	"math/rand/v2",
	"net/url",
	"path",
	"regexp",
	"slices",
	"sort",
	"strconv",
	"strings",
	"time",
	"unicode",
	"unicode/utf16",
	"unicode/utf8",
}

// patient are functions of swift packages that wait, or lead to a channel that does.
var patient = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"}

// waits reports whether a piece of code could go on after the interpreter has been
// stopped: everything with channels, functions that wait, and readers, which
// functions of the standard library ask again and again.
func waits(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.ImportSpec:
		return n.Name != nil && n.Name.Name == "." // Names would not tell where they come from.
	case *ast.SelectorExpr:
		return slices.Contains(patient, n.Sel.Name)
	case *ast.FuncDecl:
		return n.Recv != nil && strings.HasPrefix(n.Name.Name, "Read")
	}
	return false
}
