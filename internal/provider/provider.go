// Package provider is the contract with language models and what every client
// shares: requests, responses, error classes, retries and streaming transport.
// It speaks no wire format; the clients are in its sub-packages.
package provider

import (
	"context"
	"encoding/json"

	"github.com/idelchi/aura/internal/generation"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// Client talks to one model server. It is safe for use by several goroutines.
type Client interface {
	// Chat sends a request and streams the answer: on is called with each piece
	// as it arrives, in order, from one goroutine, and may be nil. The response is
	// complete: a stream that ended without its closing event is an error, never an
	// answer. Failures are *Error, except a cancelled ctx, which is ctx.Err().
	Chat(ctx context.Context, req *Request, on func(Delta)) (*Response, error)

	// Models lists the models of the server.
	Models(ctx context.Context) ([]sdk.ModelInfo, error)

	// Model describes one model as well as it can without failing: facts that
	// cannot be found are zero.
	Model(ctx context.Context, name string) sdk.ModelInfo
}

// Request is one model call. Messages contains no system message and is well
// formed: every tool call is answered exactly once, by the tool messages that
// directly follow it, in the order of the calls.
type Request struct {
	Model      string
	System     string
	Messages   []message.Message
	Tools      []Tool
	Think      string // "off", "low", "medium" or "high"; empty leaves it to the server.
	Generation Generation
}

// Tool is a tool as a model sees it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema, always an object.
}

// Generation is how a model makes its answers, see package generation.
type Generation = generation.Settings

// Delta is a piece of an answer.
type Delta struct {
	Text     string
	Thinking string
}

// Response is a complete answer.
type Response struct {
	// Message has role assistant, type normal, and the text, thinking and tool
	// calls of the answer. Every call has a non-empty ID, unique in the message.
	Message message.Message

	// Malformed holds the raw text of arguments that are not a JSON object, by
	// call ID. Such a call is in Message with empty arguments.
	Malformed map[string]string

	// Broken is why the server kept back a tool call that the model wrote so badly
	// that it could not be read; empty if there was none.
	Broken string

	Usage Usage
	Stop  string // "stop", "tool_calls", "length" or the server's own word.
}

// Cut reports whether the answer ended at the output limit, before the model was
// finished.
func (r *Response) Cut() bool { return r.Stop == "length" }

// Usage is what the server says a call cost, in tokens.
type Usage struct {
	Input      int `json:"input"` // All input tokens, cached ones included.
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
}
