package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mutateOptions limit what is tried.
type mutateOptions struct {
	root    string
	claim   string        // Only tests that claim this statement.
	pkg     string        // Only tests of this package, like ./internal/hooks.
	count   int           // Changes per test.
	limit   time.Duration // Of everything together; 0 is none.
	seed    uint64
	verbose bool // Also changes that were noticed.
}

// runTimeout ends a test that a change keeps from ending; it has noticed.
const runTimeout = time.Minute

// outcome is what a test made of the changes.
type outcome struct {
	test           claimedTest
	tried, noticed int
}

// mutation is one run of the tool.
type mutation struct {
	mutateOptions
	out    io.Writer
	dir    string // For profiles, overlays and programs.
	random *rand.Rand
}

// mutate changes the code that claiming tests run, one small change at a time, and
// prints which tests do not notice. It returns how many claims notice no change: no
// test that makes the claim failed for any of the changes it was run with.
func mutate(ctx context.Context, out io.Writer, o mutateOptions, list []area) (unnoticed int, err error) {
	tests, err := claimedTests(os.DirFS(o.root), list)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	m := &mutation{mutateOptions: o, out: out, dir: dir, random: rand.New(rand.NewPCG(o.seed, 0))}
	if o.limit > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, o.limit)
		defer cancel()
	}
	var results []outcome
	for _, group := range packages(tests) {
		if o.pkg != "" && filepath.ToSlash(filepath.Clean(o.pkg)) != group[0].dir || !m.wants(group...) {
			continue
		}
		done, err := m.group(ctx, group)
		results = append(results, done...)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			fmt.Fprintf(out, "stopped after %s: the rest was not tried\n", o.limit)
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return m.summary(results), nil
}

// wants reports whether one of the tests makes the claim that was asked for.
func (m *mutation) wants(tests ...claimedTest) bool {
	return m.claim == "" || slices.ContainsFunc(tests, func(t claimedTest) bool {
		return slices.ContainsFunc(t.ids, func(i id) bool { return i.String() == m.claim })
	})
}

// packages groups tests by package.
func packages(tests []claimedTest) (groups [][]claimedTest) {
	for _, t := range tests {
		i := slices.IndexFunc(groups, func(g []claimedTest) bool { return g[0].dir == t.dir })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// group tries the tests of one package. All of them are run once, to learn which
// code only few of them reach: that is what a claim points at.
func (m *mutation) group(ctx context.Context, tests []claimedTest) (results []outcome, err error) {
	program := filepath.Join(m.dir, "cover.test")
	pkg := "./" + tests[0].dir
	if text, err := m.goCommand(ctx, "test", "-c", "-cover", "-o", program, pkg); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", pkg, err, text)
	}
	reach := make([][]block, len(tests))
	users := map[block]int{}
	for i, t := range tests {
		if reach[i], err = m.cover(ctx, program, t); err != nil {
			return nil, err
		}
		for _, b := range reach[i] {
			users[b]++
		}
	}
	for i, t := range tests {
		if !m.wants(t) {
			continue
		}
		if len(reach[i]) == 0 {
			fmt.Fprintf(m.out, "%s: fails, or runs no function of its package\n", t)
			continue
		}
		r, err := m.test(ctx, t, reach[i], users)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// cover returns the blocks that one test runs; none if it fails or runs none.
func (m *mutation) cover(ctx context.Context, program string, t claimedTest) ([]block, error) {
	profile := filepath.Join(m.dir, "profile")
	_ = os.Remove(profile)
	cmd := exec.CommandContext(ctx, program, "-test.run=^"+t.name+"$", "-test.coverprofile="+profile)
	cmd.Dir = filepath.Join(m.root, t.dir)
	if err := cmd.Run(); err != nil {
		return nil, ctx.Err()
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	return covered(string(text))
}

// test tries changes of the code that one test runs, those that the fewest tests
// reach first.
func (m *mutation) test(ctx context.Context, t claimedTest, reach []block, users map[block]int) (r outcome, err error) {
	r.test = t
	candidates, err := m.candidates(t, reach, users)
	if err != nil {
		return r, err
	}
	var survived []mutant
	for _, c := range candidates {
		if r.tried == m.count {
			break
		}
		noticed, compiled, err := m.try(ctx, t, c)
		if err != nil {
			return r, err
		}
		if !compiled {
			continue
		}
		r.tried++
		if noticed {
			r.noticed++
		} else {
			survived = append(survived, c)
		}
		if m.verbose && noticed {
			fmt.Fprintf(m.out, "   noticed  %s:%d: %s\n", c.file, c.line, oneLine(c.what))
		}
	}
	fmt.Fprintf(m.out, "%s: %d of %d noticed\n", t, r.noticed, r.tried)
	for _, c := range survived {
		fmt.Fprintf(m.out, "   survived %s:%d: %s\n", c.file, c.line, oneLine(c.what))
	}
	return r, nil
}

// candidates returns the changes of what a test runs: at random, but those that the
// fewest tests reach first.
func (m *mutation) candidates(t claimedTest, reach []block, users map[block]int) (list []mutant, err error) {
	type ranked struct {
		mutant
		users int
	}
	files := map[string][]block{}
	for _, b := range reach {
		name := filepath.Base(b.file)
		files[name] = append(files[name], b)
	}
	var found []ranked
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := t.dir + "/" + name
		source, err := os.ReadFile(filepath.Join(m.root, file))
		if err != nil {
			return nil, err
		}
		all, err := mutants(file, source)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			i := slices.IndexFunc(files[name], func(b block) bool { return b.holds(c.line, c.column) })
			if i >= 0 {
				found = append(found, ranked{c, users[files[name][i]]})
			}
		}
	}
	m.random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	slices.SortStableFunc(found, func(a, b ranked) int { return a.users - b.users })
	for _, c := range found {
		list = append(list, c.mutant)
	}
	return list, nil
}

// try runs a test with a change. A change that does not compile tells nothing.
func (m *mutation) try(ctx context.Context, t claimedTest, c mutant) (noticed, compiled bool, err error) {
	original, err := filepath.Abs(filepath.Join(m.root, c.file))
	if err != nil {
		return false, false, err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return false, false, err
	}
	changed, overlay := filepath.Join(m.dir, "changed.go"), filepath.Join(m.dir, "overlay.json")
	if err := os.WriteFile(changed, c.apply(source), 0o600); err != nil {
		return false, false, err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return false, false, err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return false, false, err
	}
	program := filepath.Join(m.dir, "mutant.test")
	pkg := "./" + t.dir
	if _, err := m.goCommand(ctx, "test", "-c", "-overlay", overlay, "-o", program, pkg); err != nil {
		return false, false, ctx.Err()
	}
	run, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	cmd := exec.CommandContext(run, program, "-test.run=^"+t.name+"$", "-test.failfast")
	cmd.Dir = filepath.Join(m.root, t.dir)
	cmd.WaitDelay = time.Second
	return cmd.Run() != nil, true, ctx.Err()
}

// goCommand runs the go command at the root and returns what it printed.
func (m *mutation) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

// summary prints the claims that notice nothing and returns how many they are.
func (m *mutation) summary(results []outcome) int {
	tried, noticed := 0, 0
	claims := map[id]bool{} // Whether a test of the claim noticed something.
	for _, r := range results {
		tried, noticed = tried+r.tried, noticed+r.noticed
		for _, i := range r.test.ids {
			claims[i] = claims[i] || r.noticed > 0 || r.tried == 0
		}
	}
	var weak []string
	for _, i := range slices.SortedFunc(maps.Keys(claims), compareIDs) {
		if !claims[i] && (m.claim == "" || m.claim == i.String()) {
			weak = append(weak, i.String())
		}
	}
	fmt.Fprintf(m.out, "mutate: %d tests, %d changes, %d noticed\n", len(results), tried, noticed)
	if len(weak) > 0 {
		fmt.Fprintf(m.out, "mutate: claims that notice nothing: %s\n", strings.Join(weak, " "))
	}
	return len(weak)
}

// oneLine shortens code for a report.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 90 {
		text = string(runes[:90]) + "..."
	}
	return text
}
