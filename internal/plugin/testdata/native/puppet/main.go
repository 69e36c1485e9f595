// Package puppet does what its configuration or the arguments of its tool say.
package puppet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/idelchi/aura/sdk"
)

func word(c sdk.Context, key string) string {
	s, _ := c.PluginConfig[key].(string)
	return s
}

func flag(c sdk.Context, key string) bool {
	b, _ := c.PluginConfig[key].(bool)
	return b
}

func act(c sdk.Context) (r sdk.Result, err error) {
	if flag(c, "hang") {
		for {
		}
	}
	if text := word(c, "panic"); text != "" {
		panic(text)
	}
	r.Message, r.Notice = word(c, "say"), word(c, "notice")
	if text := word(c, "error"); text != "" {
		err = errors.New(text)
	}
	return r, err
}

func SessionStart(_ context.Context, c sdk.SessionStartContext) (sdk.Result, error) {
	return act(c.Context)
}

func BeforeToolExecution(_ context.Context, c sdk.BeforeToolContext) (r sdk.BeforeToolResult, err error) {
	r.Result, err = act(c.Context)
	if text := word(c.Context, "block"); text != "" {
		r.Block, r.Message = true, text
	}
	if args, ok := c.PluginConfig["arguments"].(map[string]any); ok {
		for k, v := range args {
			c.Arguments[k] = v
		}
		r.Arguments = c.Arguments
	}
	return r, err
}

func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	r, err := act(c.Context)
	if text := word(c.Context, "append"); text != "" {
		text = c.ToolResult + text
		r.Output = &text
	}
	return r, err
}

func OnError(_ context.Context, c sdk.OnErrorContext) (sdk.Result, error) {
	r, err := act(c.Context)
	r.Error = &sdk.ErrorModification{Retry: flag(c.Context, "retry"), Skip: flag(c.Context, "skip")}
	return r, err
}

func BeforeCompaction(_ context.Context, c sdk.BeforeCompactionContext) (sdk.Result, error) {
	r, err := act(c.Context)
	r.Compaction = &sdk.CompactionModification{Skip: flag(c.Context, "skip")}
	return r, err
}

func Schema() sdk.ToolSchema { return sdk.ToolSchema{Name: "Puppet", Description: "d"} }

var calls int

func Execute(ctx context.Context, sc sdk.Context, args map[string]any) (string, error) {
	switch what, _ := args["do"].(string); what {
	case "count":
		calls++
		return fmt.Sprint(calls), nil
	case "panic":
		panic("boom")
	case "goexit":
		runtime.Goexit()
	case "exit":
		os.Exit(3)
	case "goroutine":
		go func() { panic("in a goroutine") }()
		<-ctx.Done()
	case "later":
		go func() {
			time.Sleep(20 * time.Millisecond)
			panic("afterwards")
		}()
		return "soon", nil
	case "recursion":
		return recurse(0), nil
	case "loop":
		for {
		}
	case "polite":
		<-ctx.Done()
		return "", ctx.Err()
	case "huge":
		return strings.Repeat("x", 1<<30), nil
	case "large":
		return strings.Repeat("x", 64<<20), nil
	case "flood":
		line := strings.Repeat("flood ", 1000) + "\n"
		for range 3000 {
			fmt.Print(line)
		}
		return "said it all", nil
	case "print":
		fmt.Println("by fmt")
		fmt.Fprintln(os.Stderr, "by stderr")
		println("by builtin")
		return "printed", nil
	case "stdin":
		n, err := os.Stdin.Read(make([]byte, 1))
		return fmt.Sprint(n, err), nil
	case "world":
		dir, err := os.Getwd()
		return fmt.Sprint(dir, " ", os.Environ(), " ", os.Args, " ", err), nil
	case "show":
		return fmt.Sprintf("%#v", args["value"]), nil
	case "context":
		return fmt.Sprintf("%+v", sc), nil
	case "pid":
		return fmt.Sprint(os.Getpid()), nil
	}
	return "", errors.New("do what?")
}

func recurse(n int) string { return recurse(n+1) + "x" }
