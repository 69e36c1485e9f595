package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// hookEvents measures what shell hooks add to a tool call, in this process.
func (b *bed) hookEvents() error {
	many := config.Hooks{}
	for i := range 100 {
		name := fmt.Sprintf("hook%d", i)
		many[name] = config.Hook{Name: name, Event: "pre", Matcher: fmt.Sprintf("Tool%d", i), Command: "true"}
	}
	idle, err := b.hookCost(many, 20_000)
	if err != nil {
		return err
	}
	builtin, err := b.hookCost(
		config.Hooks{"h": {Name: "h", Event: "pre", Command: `if [[ $AURA_TOOL_NAME == Bash ]]; then echo ok; fi`}},
		500,
	)
	if err != nil {
		return err
	}
	// In turns, so that whatever else the machine does meets all of them.
	var program, bare, shell []time.Duration
	one := config.Hooks{"h": {Name: "h", Event: "pre", Command: "/bin/true"}}
	for range b.runs {
		d, err := b.hookCost(one, 20)
		if err != nil {
			return err
		}
		program = append(program, d)
		bare = append(bare, repeated(20, func() { _ = exec.Command("/bin/true").Run() }))
		shell = append(shell, repeated(20, func() { _ = exec.Command("bash", "-c", ":").Run() }))
	}
	self := func(d time.Duration) time.Duration { return d }
	x, y, z := median(program, self), median(bare, self), median(shell, self)
	fmt.Printf(
		"hooks    100 that do not match: %.2f µs per call; one of builtins: %s (bash -c: %s); /bin/true: %s, "+
			"bare exec %s: %.1fx\n",
		float64(idle)/1e3,
		ms(builtin),
		ms(z),
		ms(x),
		ms(y),
		ratio(x, y),
	)
	return nil
}

// hookCost is the mean time of a tool call's way through hooks.
func (b *bed) hookCost(hks config.Hooks, n int) (time.Duration, error) {
	set, err := hooks.NewSet(hooks.Options{Hooks: hks, Workdir: b.dir})
	if err != nil {
		return 0, err
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Hook, set.Bindings())
	args := map[string]any{"command": "ls -la"}
	return repeated(n, func() {
		p.Dispatch(context.Background(), lifecycle.Event{
			Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{ToolName: "Bash", Arguments: args},
		}, nil)
	}), nil
}

// repeated is the mean time of do.
func repeated(n int, do func()) time.Duration {
	start := time.Now()
	for range n {
		do()
	}
	return time.Since(start) / time.Duration(n)
}
