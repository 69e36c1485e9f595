package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// claimedTest is a test function that claims statements.
type claimedTest struct {
	dir  string // Of its package, below the root.
	name string
	ids  []id // Sorted.
}

func (c claimedTest) String() string {
	var names []string
	for _, i := range c.ids {
		names = append(names, i.String())
	}
	return c.dir + " " + c.name + " (" + strings.Join(names, " ") + ")"
}

// claimedTests finds the Go tests that claim statements, in the comment before them,
// in their name or in their body. Claims of scripts and of Python tests belong to no
// function that could be run alone; they are left out.
func claimedTests(root fs.FS, list []area) ([]claimedTest, error) {
	finder := newFinder(list)
	var tests []claimedTest
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (skipped(d.Name()) || name == self):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		found, err := testsIn(finder, name, text)
		tests = append(tests, found...)
		return err
	})
	return tests, err
}

func skipped(dir string) bool {
	return dir == ".git" || dir == "vendor" || dir == "testdata" || dir == "third_party"
}

// testsIn finds the claiming tests of one file.
func testsIn(finder finder, name string, text []byte) (tests []claimedTest, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	file := set.File(tree.FileStart)
	for _, decl := range tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		start := f.Pos()
		if f.Doc != nil {
			start = f.Doc.Pos()
		}
		claims := map[id]bool{}
		finder.find(name, string(text[file.Offset(start):file.Offset(f.End())]), claims) // Errors are told by scan.
		if len(claims) > 0 {
			tests = append(
				tests, claimedTest{path.Dir(name), f.Name.Name, slices.SortedFunc(maps.Keys(claims), compareIDs)},
			)
		}
	}
	return tests, nil
}

func compareIDs(a, b id) int {
	return strings.Compare(fmt.Sprintf("%s%04d", a.area, a.number), fmt.Sprintf("%s%04d", b.area, b.number))
}

// block is a piece of code that ran.
type block struct {
	file               string // Import path and name.
	line, column       int
	endLine, endColumn int
}

// holds reports whether a position is inside of the block.
func (b block) holds(line, column int) bool {
	after := line > b.line || line == b.line && column >= b.column
	before := line < b.endLine || line == b.endLine && column < b.endColumn
	return after && before
}

// covered reads the blocks of a coverage profile that ran.
func covered(profile string) (blocks []block, err error) {
	line := regexp.MustCompile(`^(\S+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)
	for s := bufio.NewScanner(strings.NewReader(profile)); s.Scan(); {
		if strings.HasPrefix(s.Text(), "mode:") {
			continue
		}
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			return nil, fmt.Errorf("coverage profile: %q", s.Text())
		}
		if m[6] == "0" {
			continue
		}
		n := make([]int, 4)
		for i := range n {
			n[i], _ = strconv.Atoi(m[2+i])
		}
		blocks = append(blocks, block{m[1], n[0], n[1], n[2], n[3]})
	}
	return blocks, nil
}
