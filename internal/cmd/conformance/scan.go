package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// id names one statement.
type id struct {
	area   string
	number int
}

func (i id) String() string { return fmt.Sprintf("%s-%02d", i.area, i.number) }

// area is one chapter of the list.
type area struct {
	name    string
	title   string
	numbers []int // Sorted.
}

func (a area) has(n int) bool {
	_, ok := slices.BinarySearch(a.numbers, n)
	return ok
}

// parse reads the statements of the list: `## HK title` begins an area,
// `- HK-01 | ...` is a statement.
func parse(text string) ([]area, error) {
	var (
		heading   = regexp.MustCompile(`^## ([A-Z]{2}) (.+)$`)
		statement = regexp.MustCompile(`^- ([A-Z]{2})-(\d{2,3}) \|`)
		list      []area
	)
	for n, line := range strings.Split(text, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			list = append(list, area{name: m[1], title: m[2]})
			continue
		}
		m := statement.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if len(list) == 0 || list[len(list)-1].name != m[1] {
			return nil, fmt.Errorf("docs/conformance.md:%d: %s-%s stands in the wrong area", n+1, m[1], m[2])
		}
		last := &list[len(list)-1]
		number, _ := strconv.Atoi(m[2])
		if slices.Contains(last.numbers, number) {
			return nil, fmt.Errorf("docs/conformance.md:%d: %s-%s is there twice", n+1, m[1], m[2])
		}
		last.numbers = append(last.numbers, number)
	}
	for _, a := range list {
		slices.Sort(a.numbers)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("docs/conformance.md: no statements found")
	}
	return list, nil
}

// scan collects the claims of all test files below root. A claim of a statement
// that does not exist is an error.
func scan(root fs.FS, list []area) (map[id]bool, []error) {
	claims := map[id]bool{}
	finder := newFinder(list)
	var errs []error
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "vendor" || name == self):
			return fs.SkipDir
		case d.IsDir() || !isTest(name):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		errs = append(errs, finder.find(name, string(text), claims)...)
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return claims, errs
}

// self is this program, whose tests talk about claims without making any.
const self = "internal/cmd/conformance"

// isTest reports whether a file can claim statements.
func isTest(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, ".txtar") ||
		strings.HasPrefix(base, "test_") && strings.HasSuffix(base, ".py")
}

// finder finds claims in text.
type finder struct {
	list []area
	text *regexp.Regexp // HK-35, HK-35..HK-40, HK-35..40
	name *regexp.Regexp // The name of a test function.
	part *regexp.Regexp // HK35 or HK_35 inside such a name.
}

func newFinder(list []area) finder {
	var names []string
	for _, a := range list {
		names = append(names, a.name)
	}
	any := strings.Join(names, "|")
	return finder{
		list: list,
		text: regexp.MustCompile(`\b(` + any + `)-(\d{2,3})(?:\.\.(?:(` + any + `)-)?(\d{2,3}))?\b`),
		name: regexp.MustCompile(`^func (?:Test|Fuzz|Example|Benchmark)\w+`),
		part: regexp.MustCompile(`(` + any + `)_?(\d{2,3})`),
	}
}

// find adds the claims of one file.
func (f finder) find(file, text string, claims map[id]bool) (errs []error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, m := range f.text.FindAllStringSubmatch(line, -1) {
			if err := f.claim(m[1], m[2], m[3], m[4], claims); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %w", file, n, err))
			}
		}
		for _, m := range f.part.FindAllStringSubmatch(f.name.FindString(line), -1) {
			if err := f.claim(m[1], m[2], "", "", claims); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %w", file, n, err))
			}
		}
	}
	return errs
}

// claim adds one claim, which may be a range.
func (f finder) claim(name, from, toName, to string, claims map[id]bool) error {
	i := slices.IndexFunc(f.list, func(a area) bool { return a.name == name })
	first, _ := strconv.Atoi(from)
	last := first
	if to != "" {
		last, _ = strconv.Atoi(to)
	}
	if toName != "" && toName != name || last < first {
		return fmt.Errorf("%s-%s..%s-%s is not a range", name, from, toName, to)
	}
	for n := first; n <= last; n++ {
		if !f.list[i].has(n) {
			return fmt.Errorf("claims %s, which docs/conformance.md does not know", id{name, n})
		}
		claims[id{name, n}] = true
	}
	return nil
}
