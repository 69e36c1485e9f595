// Command conformance counts which statements of docs/conformance.md are claimed
// by tests. It reads names and comments; whether a test deserves its claim is for
// the reader to judge. With -mutate it helps: it breaks the code that such tests run
// and prints the claims that do not notice.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: 0 if all is well, 1 if something strict is unclaimed or a
// claim is wrong, 2 if it was called wrongly.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the repository")
	strict := flags.String("strict", "", "areas that must be complete, separated by commas")
	quiet := flags.Bool("summary", false, "print only the counts")
	change := flags.Bool(
		"mutate", false, "change the code that claiming tests run, and print the claims that do not notice",
	)
	var o mutateOptions
	flags.StringVar(&o.claim, "claim", "", "with -mutate: only tests that claim this statement")
	flags.StringVar(&o.pkg, "package", "", "with -mutate: only tests of this package, like ./internal/hooks")
	flags.IntVar(&o.count, "n", 5, "with -mutate: changes per test")
	flags.DurationVar(&o.limit, "time", 0, "with -mutate: stop after this time")
	flags.Uint64Var(&o.seed, "seed", 1, "with -mutate: chooses the changes")
	flags.BoolVar(&o.verbose, "v", false, "with -mutate: also print the changes that were noticed")
	if flags.Parse(args) != nil {
		return 2
	}

	text, err := os.ReadFile(filepath.Join(*root, "docs", "conformance.md"))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	list, err := parse(string(text))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	wanted, err := areas(*strict, list)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if *change {
		o.root = *root
		unnoticed, err := mutate(context.Background(), stdout, o, list)
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
		if err != nil || unnoticed > 0 {
			return 1
		}
		return 0
	}
	claims, errs := scan(os.DirFS(*root), list)
	for _, err := range errs {
		fmt.Fprintln(stderr, err)
	}
	missing := report(stdout, list, claims, wanted, *quiet)
	if len(errs) > 0 || missing > 0 {
		return 1
	}
	return 0
}

// areas splits the value of -strict and checks it against the list.
func areas(value string, list []area) ([]string, error) {
	if value == "" {
		return nil, nil
	}
	names := strings.Split(value, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.ContainsFunc(list, func(a area) bool { return a.name == names[i] }) {
			return nil, fmt.Errorf("-strict: no area %q in docs/conformance.md", names[i])
		}
	}
	return names, nil
}

// report prints the counts and returns how many statements of the strict areas
// are unclaimed.
func report(w io.Writer, list []area, claims map[id]bool, strict []string, quiet bool) (missing int) {
	claimed, total := 0, 0
	for _, a := range list {
		var open []int
		for _, n := range a.numbers {
			if !claims[id{a.name, n}] {
				open = append(open, n)
			}
		}
		held := len(a.numbers) - len(open)
		claimed, total = claimed+held, total+len(a.numbers)
		if slices.Contains(strict, a.name) {
			missing += len(open)
		}
		fmt.Fprintf(w, "%s %4d/%-4d %s\n", a.name, held, len(a.numbers), a.title)
		if !quiet && len(open) > 0 {
			fmt.Fprintf(w, "   unclaimed: %s\n", ranges(a.name, open))
		}
	}
	fmt.Fprintf(w, "conformance: %d of %d statements claimed by tests\n", claimed, total)
	if missing > 0 {
		fmt.Fprintf(
			w,
			"conformance: %d statements of the strict areas %s are unclaimed\n",
			missing,
			strings.Join(strict, ", "),
		)
	}
	return missing
}

// ranges writes sorted numbers of an area in short: HK-01..HK-05 HK-07.
func ranges(area string, numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := id{area, numbers[i]}.String()
		if end > i {
			part += ".." + id{area, numbers[end]}.String()
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, " ")
}
