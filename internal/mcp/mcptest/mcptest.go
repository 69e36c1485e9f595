// Package mcptest is MCP servers for tests: one that behaves, and some that do not.
// It is not linked into the program.
package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Main runs the server that the first argument names on standard input and output
// and returns its exit code:
//
//	good        every kind of tool, prompt and resource (see Server)
//	raw FILE    answers tools/list with the content of FILE, as it is
//	mute        never says anything and does not leave when told to
//	broken      leaves at once with code 3 and a word on standard error
//	noise       prints what is no message
//	gated FILE  starts to answer when FILE exists
//	http FILE   serves like good over HTTP and writes FILE, which configures it as "web";
//	            requests need the header "X-Key: secret"
//	family FILE like good, with a child like mute whose process ID it writes to FILE
func Main(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcpserver KIND [FILE]")
		return 2
	}
	switch args[1] {
	case "good":
		return serve()
	case "raw":
		return raw(args[2], os.Stdin, os.Stdout)
	case "mute":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "broken":
		fmt.Fprintln(os.Stderr, "starting")
		fmt.Fprintln(os.Stderr, "no token in the environment")
		return 3
	case "noise":
		fmt.Println("Welcome to my server!")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "chatty":
		fmt.Printf("Welcome to my server!\n\n%s\n  warning: deprecated\n[INFO] ready\n", strings.Repeat("=", 100_000))
		return serve()
	case "gated":
		for {
			if _, err := os.Stat(args[2]); err == nil {
				return serve()
			}
			time.Sleep(2 * time.Millisecond)
		}
	case "http":
		return serveHTTP(args[2])
	case "family":
		child := exec.Command(os.Args[0], "mute")
		child.Env = append(os.Environ(), Marker+"=1")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 1
		}
		if err := os.WriteFile(args[2], []byte(strconv.Itoa(child.Process.Pid)), 0o644); err != nil {
			return 1
		}
		return serve()
	}
	return 2
}

// Marker is the variable that makes a test binary a server.
const Marker = "AURA_TEST_MCP_SERVER"

func serve() int {
	fmt.Fprintln(os.Stderr, "good server starts")
	if err := Server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

func serveHTTP(file string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	server := Server()
	mcpHandler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	text := fmt.Sprintf("web:\n  url: http://%s\n  headers: {X-Key: \"${WEB_KEY}\"}\n", l.Addr())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return 1
	}
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "secret" {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		mcpHandler.ServeHTTP(w, r)
	}))
	return 0
}

// Server makes a server with these tools: echo, add (structured), picture, document,
// fail, env, progress, ask, grow (adds the tool "grown"), crash, hang (until cancelled,
// then it writes the file it was given) and flood; the prompts greet and plain; and one
// resource.
func Server() *mcp.Server {
	s := mcp.NewServer(
		&mcp.Implementation{Name: "good", Version: "1.2.3"},
		&mcp.ServerOptions{Instructions: "Be nice."},
	)
	var lists atomic.Int64 // Times that somebody asked for the tools.
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, req)
		}
	})
	type text struct {
		Text string `json:"text,omitempty" jsonschema:"any text"`
	}
	add := func(name, description string, run handler) {
		mcp.AddTool(
			s,
			&mcp.Tool{Name: name, Description: description},
			func(ctx context.Context, req *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
				res, err := run(ctx, req, in.Text)
				return res, nil, err
			},
		)
	}
	add(
		"echo",
		"Says what it is told.",
		func(_ context.Context, _ *mcp.CallToolRequest, in string) (*mcp.CallToolResult, error) {
			return say(in), nil
		},
	)
	add(
		"picture",
		"Shows a picture.",
		func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.ImageContent{
					MIMEType: "image/png",
					Data:     []byte("png"),
				},
				&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("wave")},
			}}, nil
		},
	)
	add(
		"document",
		"Hands out a resource.",
		func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "note:1", Text: "the note"}},
				&mcp.ResourceLink{URI: "note:2", Name: "second"},
			}}, nil
		},
	)
	add("fail", "Always fails.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		res := say("it did not work")
		res.IsError = true
		return res, nil
	})
	add(
		"env",
		"Tells a variable of its environment.",
		func(_ context.Context, _ *mcp.CallToolRequest, in string) (*mcp.CallToolResult, error) {
			return say(in + "=" + os.Getenv(in)), nil
		},
	)
	add(
		"progress",
		"Tells how far it is, and waits until somebody has written the file it is given.",
		func(ctx context.Context, req *mcp.CallToolRequest, in string) (*mcp.CallToolResult, error) {
			for i := range 3 {
				err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "step",
				})
				if err != nil {
					return nil, err
				}
			}
			for in != "" && ctx.Err() == nil {
				if _, err := os.Stat(in); err == nil {
					break
				}
				time.Sleep(2 * time.Millisecond)
			}
			return say("finished"), nil
		},
	)
	add("ask", "Asks the user for a name.", ask)
	add(
		"grow",
		"Adds a tool.",
		func(ctx context.Context, _ *mcp.CallToolRequest, _ string) (*mcp.CallToolResult, error) {
			seen := lists.Load()
			add(
				"grown",
				"Was not here before.",
				func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
					return say("I am new"), nil
				},
			)
			for lists.Load() == seen && ctx.Err() == nil { // Until the client has asked what changed.
				time.Sleep(time.Millisecond)
			}
			return say("grown"), nil
		},
	)
	misbehave(add)
	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	mcp.AddTool(
		s,
		&mcp.Tool{Name: "add", Description: "Adds numbers.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, sum, error) {
			return nil, sum{in.A + in.B}, nil
		},
	)
	offers(s)
	return s
}

// handler is a tool that takes a text.
type handler = func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error)

// misbehave adds the tools that no server should have.
func misbehave(add func(name, description string, run handler)) {
	add("crash", "Ends the server.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "something went terribly wrong")
		os.Exit(7)
		return nil, nil
	})
	add(
		"hang",
		"Never answers.",
		func(ctx context.Context, _ *mcp.CallToolRequest, in string) (*mcp.CallToolResult, error) {
			if in != "" {
				_ = os.WriteFile(in+".started", nil, 0o644)
			}
			<-ctx.Done()
			if in != "" {
				_ = os.WriteFile(in, []byte("cancelled"), 0o644)
			}
			return nil, ctx.Err()
		},
	)
	add("flood", "Says too much.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		if os.Getenv(Marker) != "" {
			fmt.Fprintln(os.Stderr, strings.Repeat("e", 1<<20))
		}
		return say(strings.Repeat("flood ", 1<<20)), nil
	})
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// ask works on both generations of the protocol: the older one asks during the call,
// the newer one answers with a question and is called again.
func ask(ctx context.Context, req *mcp.CallToolRequest, _ string) (*mcp.CallToolResult, error) {
	question := &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: map[string]any{
		"type": "object", "required": []string{"name"},
		"properties": map[string]any{
			"name": map[string]any{"type": "string"},
			"age":  map[string]any{"type": "integer"},
			"sure": map[string]any{"type": "boolean"},
		},
	}}
	answer := func(r *mcp.ElicitResult) *mcp.CallToolResult {
		data, _ := json.Marshal(r.Content)
		return say(r.Action + " " + string(data))
	}
	if r, ok := req.Params.InputResponses["q"]; ok {
		return answer(r.(*mcp.ElicitResult)), nil
	}
	if init := req.Session.InitializeParams(); init == nil || init.ProtocolVersion >= "2026-07-28" {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}}, nil
	}
	r, err := req.Session.Elicit(ctx, question)
	if err != nil {
		return nil, err
	}
	return answer(r), nil
}

// offers adds what is no tool.
func offers(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "Greets somebody.", Arguments: []*mcp.PromptArgument{
		{Name: "who", Required: true}, {Name: "how"},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := fmt.Sprintf("Greet %s %s", req.Params.Arguments["who"], req.Params.Arguments["how"])
		return &mcp.GetPromptResult{
			Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: strings.TrimSpace(text)}}},
		}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "plain"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{
			Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Just do it"}}},
		}, nil
	})
	s.AddResource(&mcp.Resource{URI: "note:1", Name: "first", Description: "A note."},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note:1", Text: "the note"}}}, nil
		})
}

// raw is a server written by hand: it says about its tools what the file says.
func raw(file string, in io.Reader, out io.Writer) int {
	list, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var flat bytes.Buffer // A message is a line.
	if err := json.Compact(&flat, list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		switch req.Method {
		case "initialize":
			fmt.Fprintf(
				out,
				`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}}`+"\n",
				req.ID,
			)
		case "tools/list":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`+"\n", req.ID, flat.Bytes())
		case "tools/call":
			fmt.Fprintf(
				out,
				`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"raw answer"}]}}`+"\n",
				req.ID,
			)
		default:
			fmt.Fprintf(
				out,
				`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n",
				req.ID,
			)
		}
	}
	return 0
}
