package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/sdk"
)

// The program of these tests is also the plugin at the other end of the benchmark.
func TestMain(m *testing.M) {
	switch os.Getenv("AURA_WIRE") {
	case "pipe":
		_ = Serve(os.Stdin, os.Stdout, map[string]any{"BeforeToolExecution": beforeTool(judge)})
	case "json":
		_ = serveJSON(os.Stdin, os.Stdout, map[string]any{"BeforeToolExecution": beforeTool(judge)})
	default:
		os.Exit(m.Run())
	}
}

type beforeTool = func(context.Context, sdk.BeforeToolContext) (sdk.BeforeToolResult, error)

func judge(_ context.Context, c sdk.BeforeToolContext) (r sdk.BeforeToolResult, err error) {
	if command, _ := c.Arguments["command"].(string); strings.HasPrefix(command, "rm ") {
		r.Block, r.Message = true, "no"
	}
	return r, nil
}

// BenchmarkWire is one call of a plugin in another process, through the pipe and as
// lines of JSON: with a context of 4 KB, and with what is left of it for a plugin that
// does not look at the history. The comment of the package has the figures.
func BenchmarkWire(b *testing.B) {
	large := toolContext(b)
	small := large
	for _, name := range Omittable() {
		reflect.ValueOf(&small).Elem().FieldByName(name).SetZero()
	}
	for wire, dial := range map[string]func(testing.TB) beforeTool{"pipe": dialPipe, "json": dialJSON} {
		f := dial(b)
		for size, c := range map[string]sdk.BeforeToolContext{"4KB": large, "rest": small} {
			b.Run(wire+"/"+size, func(b *testing.B) {
				for b.Loop() {
					if r, err := f(b.Context(), c); err != nil || r.Block {
						b.Fatal(r, err)
					}
				}
			})
		}
	}
}

// Both wires do the same, or the benchmark would compare nothing.
func TestWires(t *testing.T) {
	t.Parallel()
	for name, dial := range map[string]func(testing.TB) beforeTool{"pipe": dialPipe, "json": dialJSON} {
		f, c := dial(t), toolContext(t)
		if r, err := f(t.Context(), c); err != nil || r.Block {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		c.Arguments = map[string]any{"command": "rm -rf ."}
		if r, err := f(t.Context(), c); err != nil || !r.Block || r.Message != "no" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// toolContext is what a plugin gets before a usual tool call: 4 KB of JSON.
func toolContext(t testing.TB) sdk.BeforeToolContext {
	c := sdk.BeforeToolContext{
		Context: sdk.Context{
			Iteration: 3, Agent: "Coder", Mode: "edit", Workdir: "/home/someone/project", Provider: "local",
			SessionID: "20260101-120000-abcdef",
			ModelInfo: sdk.ModelInfo{Name: "llama3:8b", Family: "llama", Capabilities: []string{"tools"}},
			Stats: sdk.Stats{StartTime: time.Unix(1e9, 5),
				TopTools: []sdk.ToolCount{{Name: "Bash", Count: 3}}},
			PatchCounts:    map[string]int{"main.go": 2},
			AvailableTools: []string{"Bash", "Read", "Write", "Glob", "Grep"},
			SystemPrompt:   strings.Repeat("You are a careful assistant. ", 40),
			PluginConfig:   map[string]any{"max": 3},
		},
		ToolName: "Bash", ToolCallID: "call_1", Arguments: map[string]any{"command": "go test ./...", "timeout": 30.0},
	}
	for i := range 6 {
		c.ToolHistory = append(c.ToolHistory, sdk.ToolCall{
			Name: "Bash", Args: map[string]any{"command": "go test ./...", "n": float64(i)},
			ArgsJSON: `{"command":"go test ./...","n":1}`, Result: "ok  \tpackage\t0.01s",
		})
		c.Turns = append(c.Turns, sdk.Turn{Role: "user", Content: strings.Repeat("please do something ", 4)})
	}
	if text, err := json.Marshal(c); err != nil || len(text) < 3900 || len(text) > 4300 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	return c
}

// child starts this program as a plugin.
func child(t testing.TB, wire string) (io.Reader, io.Writer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AURA_WIRE="+wire)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return out, in
}

func dialPipe(t testing.TB) beforeTool {
	c, err := Connect(child(t, "pipe"))
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := c.Lookup("BeforeToolExecution", reflect.TypeFor[beforeTool](), c)
	return fn.(beforeTool)
}

// dialJSON is the same with lines of JSON, as fast as encoding/json allows: nothing but
// the values themselves is encoded by it.
func dialJSON(t testing.TB) beforeTool {
	in, out := child(t, "json")
	lines, id := bufio.NewReaderSize(in, 64<<10), 0
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	return func(_ context.Context, c sdk.BeforeToolContext) (r sdk.BeforeToolResult, err error) {
		id++
		line.Reset()
		fmt.Fprintf(&line, `{"id":%d,"call":"BeforeToolExecution","args":[`, id)
		if err := enc.Encode(&c); err != nil {
			return r, err
		}
		line.Truncate(line.Len() - 1)
		line.WriteString("]}\n")
		if _, err := out.Write(line.Bytes()); err != nil {
			return r, err
		}
		reply, err := lines.ReadSlice('\n')
		if err != nil {
			return r, err
		}
		got, value, ok := cutLine(reply, `{"id":`, `,"ok":[`)
		if !ok || got != strconv.Itoa(id) {
			return r, errors.New(string(reply))
		}
		return r, json.Unmarshal(value, &r)
	}
}

// serveJSON is Serve with lines of JSON.
func serveJSON(in io.Reader, out io.Writer, exported map[string]any) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for {
		call, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		id, rest, ok := cutLine(call, `{"id":`, `,"call":"`)
		name, args, ok2 := bytes.Cut(rest, []byte(`","args":[`))
		if !ok || !ok2 {
			return errors.New("not a call")
		}
		fn := reflect.ValueOf(exported[string(name)])
		s := signatureOf(fn.Type())
		arg := reflect.New(s.args[0])
		if err := json.Unmarshal(args, arg.Interface()); err != nil {
			return err
		}
		results := fn.Call([]reflect.Value{reflect.ValueOf(context.Background()), arg.Elem()})
		line.Reset()
		fmt.Fprintf(&line, `{"id":%s,"ok":[`, id)
		if err := enc.Encode(results[0].Interface()); err != nil {
			return err
		}
		line.Truncate(line.Len() - 1)
		line.WriteString("]}\n")
		if _, err := out.Write(line.Bytes()); err != nil {
			return err
		}
	}
}

// cutLine takes a line apart: what is between two texts, and what follows but for the
// end of the line.
func cutLine(line []byte, before, after string) (string, []byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(before))
	text, rest, ok2 := bytes.Cut(rest, []byte(after))
	return string(text), bytes.TrimSuffix(rest, []byte("]}\n")), ok && ok2
}
