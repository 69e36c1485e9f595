// Package modern uses what the interpreter cannot do.
package modern

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/idelchi/aura/sdk"
)

//go:embed words.txt
var words string

type number interface{ ~int | ~float64 }

func sum[T number](list ...T) (total T) {
	for _, x := range list {
		total += x
	}
	return total
}

func evens(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if i%2 == 0 && !yield(i) {
				return
			}
		}
	}
}

type myError struct{ code int }

func (e *myError) Error() string { return fmt.Sprint("code ", e.code) }

type record struct {
	sdk.Turn
	Name   string `json:"name"`
	hidden int
}

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	var found []int
	for x := range evens(7) {
		found = append(found, x)
	}
	var e *myError
	ok := errors.As(fmt.Errorf("wrapped: %w", &myError{7}), &e)
	text, err := json.Marshal(record{sdk.Turn{Role: "user"}, "n", 1})
	m := map[string]int{"b": 2, "a": 1}
	keys := slices.Sorted(maps.Keys(m))
	clear(m)
	var x any = 3
	kind := "other"
	switch x {
	case 3:
		kind = "three"
	}
	parts := []string{
		fmt.Sprint(sum(1, 2, 3), sum(0.5, 0.25)), fmt.Sprint(min(3, 1, 2), max(3, 4)), fmt.Sprint(found), fmt.Sprint(ok, e.code),
		string(text), fmt.Sprint(keys, len(m)), kind, strings.TrimSpace(words),
	}
	return sdk.Result{Message: strings.Join(parts, "|")}, err
}
