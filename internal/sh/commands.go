package sh

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of looking into a script. What people write stays far below them.
const (
	maxNesting = 16      // commands around a command
	maxSeen    = 2 << 20 // bytes of commands, each counted with all that is inside it
	innerCost  = 100     // bytes for which a script inside the script counts, beside its own
)

// ErrNested is the error of a script that hides commands too deeply to be looked at.
var ErrNested = errors.New("the script nests commands too deeply to be checked")

// Call is a simple command of a script, as far as it can be known before it runs.
type Call struct {
	Text    string // As it is written, with single blanks, without the quotes around whole words.
	Literal string // Without any quotes and backslashes, braces expanded.

	// Unknown says that what runs is known only when it runs: the name is a
	// variable, a shell reads what another command prints.
	Unknown bool

	Root int    // Index of the command that has this one among its arguments, as sudo has; its own if none.
	Lead string // Literal of the root up to and with the name of this command; empty without a root.
}

// Base is Literal without the directory of the program; empty if there is none.
func (c Call) Base() string {
	name, args, more := strings.Cut(c.Literal, " ")
	switch {
	case !strings.Contains(name, "/"):
		return ""
	case more:
		return path.Base(name) + " " + args
	}
	return path.Base(name)
}

// Commands lists the simple commands of a script: those behind `&&`, in pipes, loops,
// functions and substitutions too, and those that commands run for it, like sudo,
// `sh -c` and xargs: see the table of wrappers. More says that the script does what no
// command shows: it writes to a file, as `ls > x` does, or sets variables, which may
// make commands do anything, as `PATH=x ls` does. The error is that of a script that
// cannot be parsed, or ErrNested.
func Commands(script string) (calls []Call, more bool, err error) {
	file, err := parse(script)
	if err != nil {
		return nil, false, err
	}
	s := scan{left: maxSeen}
	s.file(file, nil, 0)
	for i := 0; i < len(s.scripts) && s.err == nil; i++ {
		in := s.scripts[i]
		file, err := parse(in.text)
		if err != nil { // Text is all there is to judge; its shell may understand more.
			text := strings.TrimSpace(in.text)
			s.calls = append(s.calls, Call{Text: text, Literal: text, Unknown: true, Root: len(s.calls)})
			continue
		}
		s.file(file, in.in, in.depth)
	}
	return s.calls, s.more, s.err
}

// scan is one look into a script.
type scan struct {
	calls   []Call
	scripts []inner           // Scripts inside the script, in the order in which they are read.
	aliases map[string]string // Those the script makes.
	printer *syntax.Printer   // Nil until it is needed.
	left    int               // Of maxSeen.
	more    bool              // See Commands.
	err     error
}

// inner is a script inside a script.
type inner struct {
	text  string
	in    *input
	depth int
}

// nest notes a script that reads in for later.
func (s *scan) nest(text string, in *input, depth int) {
	if text != "" && s.spend(len(text)+innerCost, depth) {
		s.scripts = append(s.scripts, inner{text, in, depth})
	}
}

// spend takes n bytes from what may be looked at. It reports false, from then on, if
// that is too much.
func (s *scan) spend(n, depth int) bool {
	if s.left -= n; s.left < 0 || depth > maxNesting {
		s.err = ErrNested
	}
	return s.err == nil
}

// file looks at all commands of a parsed script.
func (s *scan) file(file *syntax.File, in *input, depth int) {
	// In is that of the node at hand; nil if it cannot be told.
	var (
		outer []*input // Of the nodes around it.
		fed   map[*syntax.Stmt]*syntax.Stmt
	)
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			in, outer = outer[len(outer)-1], outer[:len(outer)-1]
			return true
		}
		if s.err != nil {
			return false
		}
		outer = append(outer, in)
		s.more = s.more || sets(n)
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if fed == nil {
					fed = make(map[*syntax.Stmt]*syntax.Stmt)
				}
				fed[n.Y] = n.X
			}
		case *syntax.Stmt:
			in = inputOf(n, fed[n], in)
			s.more = s.more || slices.ContainsFunc(n.Redirs, s.writes)
		case *syntax.FuncDecl:
			in = nil // It is that of whoever calls it.
		case *syntax.CallExpr:
			s.call(n, in, depth)
		}
		return true
	})
}

// call looks at one command as it is written.
func (s *scan) call(c *syntax.CallExpr, in *input, depth int) {
	if len(c.Args) == 0 || !s.spend(int(c.End().Offset()-c.Args[0].Pos().Offset()), depth) {
		return
	}
	written := make([]term, len(c.Args))
	for i, arg := range c.Args {
		written[i] = s.word(arg)
	}
	words := s.expanded(c.Args, written)
	if len(words) == 0 {
		return
	}
	root := len(s.calls)
	s.command(command{words: words, root: root, all: words, in: in, depth: depth})
	if len(words) != len(written) {
		s.calls[root].Text = join(written, text)
	}
	if value, ok := s.aliases[c.Args[0].Lit()]; ok {
		s.nest(value+" "+s.sources(c.Args[1:]), in, depth+1)
	}
}

// command is a simple command, alone or among the arguments of others.
type command struct {
	words []term
	all   []term // Of the outermost one.
	at    int    // Where in all this one begins.
	root  int    // Index of the outermost one in the list of calls.
	in    *input
	depth int
}

// command notes a command and looks at those it runs.
func (s *scan) command(c command) {
	if len(c.words) == 0 {
		return
	}
	i, name := len(s.calls), c.words[0]
	call := Call{
		Root:    c.root,
		Unknown: name.open || name.glob || name.literal == "" || strings.ContainsAny(name.literal, " \t\n"),
	}
	call.Literal = join(c.words, literal)
	if call.Text = call.Literal; slices.ContainsFunc(c.words, func(w term) bool { return w.text != w.literal }) {
		call.Text = join(c.words, text)
	}
	if c.root != i {
		// Text is counted where it is written; this is written nowhere.
		if !s.spend(len(call.Literal), c.depth) {
			return
		}
		call.Lead = join(c.all[:min(c.at+1, len(c.all))], literal)
	}
	s.calls = append(s.calls, call)
	s.more = s.more || setsByName(c.words)
	if name.open {
		// A variable may hold nothing: `$SUDO rm` is seen as rm, too.
		rest := slices.Clone(c.words)
		rest[0] = term{text: name.fixed, literal: name.fixed, fixed: name.fixed, glob: name.glob}
		next := c
		if next.words = rest; name.fixed == "" {
			next.words, next.at = rest[1:], c.at+1
		}
		next.depth++
		s.command(next)
		return
	}
	if s.unwrap(c) {
		s.calls[i].Unknown = true
	}
}

func text(w term) string    { return w.text }
func literal(w term) string { return w.literal }

// join writes words with blanks between them.
func join(words []term, form func(term) string) string {
	n := len(words)
	for _, w := range words {
		n += len(form(w))
	}
	var b strings.Builder
	b.Grow(n)
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(form(w))
	}
	return b.String()
}
