package sdk

// Role says in whose name an injected message speaks.
type Role string

// The roles of injected messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Result is what most hook functions return. The zero Result changes nothing.
type Result struct {
	Message string `json:"message,omitempty"` // Text to inject; empty injects nothing.
	Role    Role   `json:"role,omitempty"`    // Default: RoleAssistant.
	Prefix  string `json:"prefix,omitempty"`  // Prepended to Message.
	Eject   bool   `json:"eject,omitempty"`   // Remove the message after one model call.
	// Name patterns, until the end of the user turn.
	DisableTools []string `json:"disable_tools,omitempty"`
	Notice       string   `json:"notice,omitempty"` // Shown to the user only; overrides Message.
	// AfterToolExecution: replaces the tool's result.
	Output     *string                 `json:"output,omitempty"`
	Response   *ResponseModification   `json:"response,omitempty"`   // AfterResponse.
	Error      *ErrorModification      `json:"error,omitempty"`      // OnError.
	Request    *RequestModification    `json:"request,omitempty"`    // BeforeChat.
	Compaction *CompactionModification `json:"compaction,omitempty"` // BeforeCompaction.
}

// CompactionModification decides about a compaction.
type CompactionModification struct {
	Skip bool `json:"skip,omitempty"` // Do not compact: the plugin manages the context itself.
}

// ResponseModification changes how a response is stored. It has been streamed already.
type ResponseModification struct {
	Skip    bool    `json:"skip,omitempty"`    // Keep the text out of the history.
	Content *string `json:"content,omitempty"` // Store this text instead; nil keeps the original.
}

// ErrorModification decides about a provider error. Retry wins over Skip.
type ErrorModification struct {
	Retry bool `json:"retry,omitempty"` // Call the model again, at most three times.
	Skip  bool `json:"skip,omitempty"`  // Go on as if the answer had been empty.
}

// RequestModification changes one model call.
type RequestModification struct {
	AppendSystem *string `json:"append_system,omitempty"` // Added to the system prompt of this call only.
	Skip         bool    `json:"skip,omitempty"`          // Make no call: the turn ends with an empty response.
}

// BeforeToolResult is what BeforeToolExecution returns.
type BeforeToolResult struct {
	Result                   // Injected only if the call is neither blocked nor invalid.
	Arguments map[string]any `json:"arguments,omitempty"` // If not nil, replaces the arguments.
	Block     bool           `json:"block,omitempty"`     // Do not execute the tool.
}

// UserMessageResult is what UserMessage returns.
type UserMessageResult struct {
	Result
	Text  *string `json:"text,omitempty"`  // If not nil, replaces the text of the user.
	Block bool    `json:"block,omitempty"` // Refuse the input; Message is the reason.
}
