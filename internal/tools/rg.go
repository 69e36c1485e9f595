package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/walk"
)

const rgText = `Search the content of files with a regular expression, line by line. The result is path:line:text, sorted by path.

- The syntax is RE2: \b, \w, (?i), (a|b) work; look-around and back-references do not. Escape ( [ { . to find them literally.
- Files that git ignores, aura's own records (sessions, cache and debug.log in .aura), binary files and files over 32 MB are left out; hidden files are searched.
- At most max_results lines are shown (default 200). Long lines are cut around the match.`

const (
	rgResults = 200
	rgMax     = 2000
	rgFile    = 32 << 20
	rgLine    = 300
	rgWorkers = 8
)

func rgTool() tool.Tool {
	return tool.Tool{
		Name:        "Rg",
		Description: rgText,
		Examples:    `{"pattern":"func New\\w*\\(","glob":"**/*.go"}`,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":10000,"description":"The regular expression."},
"path":{"type":"string","description":"The directory or file to search (default: the working directory)."},
"glob":{"type":"string","maxLength":1000,"description":"Only files whose name, or path if it has a slash, matches, for example *.go or internal/**/*.md."},
"ignore_case":{"type":"boolean","description":"Upper and lower case are the same (default false)."},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines to show before and after each match (default 0)."},
"max_results":{"type":"integer","minimum":1,"maximum":2000,"description":"How many matching lines to show (default 200)."}},
"required":["pattern"],"additionalProperties":false}`),
		SideEffects: []string{"read"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			return tool.Paths{Read: []string{home(orDot(text(args, "path")))}}, nil
		},
		Execute: rg,
	}
}

func rg(ctx context.Context, call tool.Call) (tool.Result, error) {
	m, err := newMatcher(text(call.Args, "pattern"), flag(call.Args, "ignore_case"))
	if err != nil {
		return tool.Result{}, err
	}
	m.context = min(integer(call.Args, "context"), 20)
	limit := min(integer(call.Args, "max_results"), rgMax)
	if limit <= 0 {
		limit = rgResults
	}
	m.limit = limit + 1 // One more shows that there are more.
	accept, err := globFilter(text(call.Args, "glob"))
	if err != nil {
		return tool.Result{}, err
	}
	root := absolute(call.Workdir, orDot(text(call.Args, "path")))
	info, err := os.Stat(root)
	if err != nil {
		return tool.Result{}, explain(call.Workdir, root, err)
	}
	s := &search{matcher: m, accept: accept, shown: func(path string) string { return display(call.Workdir, path) }}
	if info.IsDir() {
		err = s.tree(ctx, root)
	} else if err = regular(call.Workdir, root, info); err == nil {
		s.file(ctx, &scratch{}, 0, root)
	}
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if err != nil {
		return tool.Result{}, explain(call.Workdir, root, err)
	}
	return tool.Result{Text: s.report(limit)}, nil
}

// globFilter decides by name which files are searched.
func globFilter(pattern string) (func(path string) bool, error) {
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	pattern = strings.TrimPrefix(pattern, "./")
	if !doublestar.ValidatePattern(pattern) || strings.Count(pattern, "{") > 8 {
		return nil, fmt.Errorf("glob %q is not valid: check that every [ and { is closed", pattern)
	}
	if strings.Contains(pattern, "/") {
		return func(path string) bool { return doublestar.MatchUnvalidated(pattern, path) }, nil
	}
	return func(path string) bool {
		return doublestar.MatchUnvalidated(pattern, path[strings.LastIndexByte(path, '/')+1:])
	}, nil
}

// search is one run over a tree. Files are numbered in the order of the walk, so
// that the result is the same however the work is shared out.
type search struct {
	matcher *matcher
	accept  func(path string) bool
	shown   func(path string) string

	mu      sync.Mutex
	hits    []fileHits
	done    map[int]int // Files that are searched but follow one that is not: number to matches.
	next    int         // All files before this one are searched.
	matches int         // In those.
	full    bool        // They have as many matches as are shown.
	skipped int
}

// fileHits is the lines of one file, ready to be shown.
type fileHits struct {
	number  int
	path    string
	lines   []hit
	matches int
}

type hit struct {
	line  int
	text  string
	match bool // Else a line of context.
}

type job struct {
	number int
	path   string
}

func (s *search) tree(ctx context.Context, root string) error {
	s.done = map[int]int{}
	jobs := make(chan job, 64)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), rgWorkers) {
		wg.Go(func() {
			var buf scratch
			for j := range jobs {
				if ctx.Err() == nil && !s.enough() {
					s.file(ctx, &buf, j.number, j.path)
				}
			}
		})
	}
	number := 0
	w := walk.Walker{Root: root, Visit: func(e walk.Entry) bool {
		if !e.Type().IsRegular() || !s.accept(e.Path) {
			return true
		}
		if number%64 == 0 && s.enough() {
			return false
		}
		jobs <- job{number, filepath.Join(root, filepath.FromSlash(e.Path))}
		number++
		return true
	}}
	err := w.Run(ctx)
	close(jobs)
	wg.Wait()
	return err
}

func (s *search) enough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// file searches one file and keeps the account of what is complete.
func (s *search) file(ctx context.Context, buf *scratch, number int, path string) {
	hits, skipped := fileHits{number: number, path: path}, false
	data, err := buf.read(ctx, path)
	switch {
	case err == errTooLarge:
		skipped = true
	case err == nil && !binary(data):
		hits.lines, hits.matches = s.matcher.search(data, buf)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if skipped {
		s.skipped++
	}
	if hits.matches > 0 {
		s.hits = append(s.hits, hits)
	}
	if s.done == nil {
		return
	}
	s.done[number] = hits.matches
	for {
		n, ok := s.done[s.next]
		if !ok {
			break
		}
		delete(s.done, s.next)
		s.matches += n
		s.next++
	}
	s.full = s.full || s.matches >= s.matcher.limit
}

func (s *search) report(limit int) string {
	slices.SortFunc(s.hits, func(a, b fileHits) int { return a.number - b.number })
	var b strings.Builder
	left, more := limit, false
	for i, f := range s.hits {
		path := s.shown(f.path)
		if s.matcher.context > 0 && i > 0 && left > 0 {
			b.WriteString("--\n")
		}
		for j, h := range f.lines {
			if h.match {
				if left == 0 {
					more = true
					break
				}
				left--
			} else if left == 0 && !after(f.lines, j, s.matcher.context) {
				more = true // It belongs to a later match.
				break
			}
			mark := byte('-')
			if h.match {
				mark = ':'
			}
			if j > 0 && s.matcher.context > 0 && h.line > f.lines[j-1].line+1 {
				b.WriteString("--\n")
			}
			fmt.Fprintf(&b, "%s%c%d%c%s\n", path, mark, h.line, mark, h.text)
		}
		if left == 0 && (more || i < len(s.hits)-1) {
			more = true
			break
		}
	}
	if b.Len() == 0 {
		b.WriteString("no matches\n")
	}
	if more {
		fmt.Fprintf(
			&b,
			"[only the first %d matches are shown: use a narrower pattern, path or glob, or max_results]\n",
			limit,
		)
	}
	if s.skipped > 0 {
		fmt.Fprintf(&b, "[%d files over %s were not searched]\n", s.skipped, bytesText(rgFile))
	}
	return b.String()
}

// after reports whether line j is context that follows the last match shown.
func after(lines []hit, j, context int) bool {
	for i := j - 1; i >= 0; i-- {
		if lines[i].match {
			return lines[j].line-lines[i].line <= context
		}
	}
	return false
}

// scratch is the memory of one worker.
type scratch struct{ data, folded []byte }

var errTooLarge = errors.New("file too large")

// read reads a file into memory that the next call uses again.
func (b *scratch) read(ctx context.Context, path string) ([]byte, error) {
	f, stop, err := openFor(ctx, path)
	if err != nil {
		return nil, err
	}
	defer stop()
	data := b.data[:0]
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, max(32<<10, len(data)))
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		b.data = data
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > rgFile:
			return nil, errTooLarge
		case len(data) == n && binary(data):
			return data, nil // Nothing more is needed to leave it out.
		}
	}
}

// lower is data with ASCII letters in lower case.
func (b *scratch) lower(data []byte) []byte {
	b.folded = append(b.folded[:0], data...)
	for i, c := range b.folded {
		if 'A' <= c && c <= 'Z' {
			b.folded[i] = c + 'a' - 'A'
		}
	}
	return b.folded
}
