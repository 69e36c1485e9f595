// Package sdk is the vocabulary that aura shares with everything that extends it:
// the snapshot of a conversation, the results a handler may return, and the
// schemas of tools and commands. It contains no behaviour and imports only the
// standard library, so that a plugin compiles against it without the host.
package sdk

import "time"

// TokenState describes how full the model's context window is.
type TokenState struct {
	Estimate int     `json:"estimate"` // Client-side estimate: sum over the messages plus the tool schemas.
	LastAPI  int     `json:"last_api"` // Input tokens the provider reported for the last call; 0 before the first.
	Percent  float64 `json:"percent"`  // Estimate as a percentage of Max, 0 to 100.
	Max      int     `json:"max"`      // Effective context window in tokens; 0 if unknown.
}

// ModelInfo describes the active model. Unresolved facts are zero.
type ModelInfo struct {
	Name           string   `json:"name"`            // For example "llama3:8b".
	Family         string   `json:"family"`          // For example "llama".
	ParameterCount int64    `json:"parameter_count"` // For example 8000000000.
	ContextLength  int      `json:"context_length"`  // For example 8192.
	Capabilities   []string `json:"capabilities"`    // For example "vision", "tools", "thinking".
}

// Stats counts what happened in the session so far.
type Stats struct {
	StartTime    time.Time     `json:"start_time"`
	Duration     time.Duration `json:"duration"`     // Since StartTime, in nanoseconds when encoded as JSON.
	Interactions int           `json:"interactions"` // Inputs of the user, slash commands included.
	Turns        int           `json:"turns"`        // Inputs that were sent to the model.
	Iterations   int           `json:"iterations"`   // Model calls.
	ToolCalls    int           `json:"tool_calls"`   // Executed tool calls, failed ones included.
	ToolErrors   int           `json:"tool_errors"`
	ParseRetries int           `json:"parse_retries"` // Malformed tool calls that were handed back to the model.
	Compactions  int           `json:"compactions"`
	TokensIn     int           `json:"tokens_in"`
	TokensOut    int           `json:"tokens_out"`
	TopTools     []ToolCount   `json:"top_tools"` // Most used first, ties by name.
}

// ToolCount is how often one tool was executed.
type ToolCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// ToolCall is one call of a tool, with its outcome once it has been executed.
type ToolCall struct {
	Name     string         `json:"name"`
	Args     map[string]any `json:"args"`
	ArgsJSON string         `json:"args_json"` // Args as JSON with sorted keys: equal calls have equal strings.
	Result   string         `json:"result"`
	Error    string         `json:"error"`    // Empty on success.
	Duration time.Duration  `json:"duration"` // Wall-clock time, in nanoseconds when encoded as JSON.
}

// FeatureState tells which switches are on right now.
type FeatureState struct {
	Sandbox           bool `json:"sandbox"`            // The sandbox is enforced, not merely requested.
	ReadBeforeWrite   bool `json:"read_before_write"`  // Files must be read before they are overwritten.
	ShowThinking      bool `json:"show_thinking"`      // The model's thinking is displayed.
	CompactionEnabled bool `json:"compaction_enabled"` // The history is compacted when the context fills up.
}

// Turn is one text message of the conversation.
type Turn struct {
	Role    string `json:"role"` // "user" or "assistant".
	Content string `json:"content"`
}

// Context is the snapshot of run-time state that every handler, tool and command
// receives. It is a copy: changing it changes nothing in the host.
type Context struct {
	Iteration    int        `json:"iteration"` // Model call within this user turn, from 1; 0 outside a turn.
	Tokens       TokenState `json:"tokens"`
	Agent        string     `json:"agent"`
	Mode         string     `json:"mode"`
	ModelInfo    ModelInfo  `json:"model_info"`
	Stats        Stats      `json:"stats"`
	Workdir      string     `json:"workdir"`
	MessageCount int        `json:"message_count"`

	// Conversation state.
	Auto                 bool `json:"auto"`
	DoneActive           bool `json:"done_active"`            // The Done tool is offered.
	ResponseEmpty        bool `json:"response_empty"`         // Neither text nor tool calls.
	ResponseContentEmpty bool `json:"response_content_empty"` // No text.
	HasToolCalls         bool `json:"has_tool_calls"`
	MaxSteps             int  `json:"max_steps"`

	// Todo list.
	TodoPending    int `json:"todo_pending"`
	TodoInProgress int `json:"todo_in_progress"`
	TodoTotal      int `json:"todo_total"`

	// Tools used in the current user turn.
	PatchCounts map[string]int `json:"patch_counts"` // Edits per file.
	ToolHistory []ToolCall     `json:"tool_history"` // Oldest first.

	// Session identity.
	SessionID    string `json:"session_id"` // Empty only where saving is impossible.
	SessionTitle string `json:"session_title"`

	// Provider and run time.
	Provider  string `json:"provider"`
	ThinkMode string `json:"think_mode"` // "off", "low", "medium" or "high".

	Features FeatureState `json:"features"`

	AvailableTools []string `json:"available_tools"` // After filtering.
	LoadedTools    []string `json:"loaded_tools"`    // Deferred tools loaded in this session.

	Turns []Turn `json:"turns"` // Text of the user and the model, nothing injected.

	SystemPrompt string `json:"system_prompt"`

	MCPServers []string `json:"mcp_servers"` // Connected servers.

	Vars map[string]string `json:"vars"` // From --set.

	PluginConfig map[string]any `json:"plugin_config"` // Merged for the plugin that is called.
}

// SessionStartContext is handed to SessionStart when a session begins or resumes.
type SessionStartContext struct {
	Context
	Resumed bool `json:"resumed"`
}

// UserMessageContext is handed to UserMessage before the text enters the history.
type UserMessageContext struct {
	Context
	Text string `json:"text"`
}

// BeforeChatContext is handed to BeforeChat before every model call.
type BeforeChatContext struct {
	Context
}

// TransformContext is handed to TransformMessages with the messages about to be sent.
type TransformContext struct {
	Context
	Messages []Message `json:"messages"`
}

// StreamChunkContext is handed to StreamChunk while an answer arrives.
type StreamChunkContext struct {
	Context
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	Finished bool   `json:"finished"` // The last chunk of the response; its texts are empty.
}

// AfterResponseContext is handed to AfterResponse before the tools of the response run.
type AfterResponseContext struct {
	Context
	Response string     `json:"response"`
	Thinking string     `json:"thinking"`
	Calls    []ToolCall `json:"calls"` // Pending: Result, Error and Duration are zero.
}

// BeforeToolContext is handed to BeforeToolExecution.
type BeforeToolContext struct {
	Context
	ToolName   string         `json:"tool_name"`
	ToolCallID string         `json:"tool_call_id"`
	Arguments  map[string]any `json:"arguments"`
}

// AfterToolContext is handed to AfterToolExecution once a tool has run.
type AfterToolContext struct {
	Context
	ToolName     string         `json:"tool_name"`
	ToolCallID   string         `json:"tool_call_id"`
	Arguments    map[string]any `json:"arguments"` // As executed.
	ToolResult   string         `json:"tool_result"`
	ToolError    string         `json:"tool_error"` // Empty on success.
	ToolDuration time.Duration  `json:"tool_duration"`
}

// OnErrorContext is handed to OnError when a provider error survived every built-in recovery.
type OnErrorContext struct {
	Context
	Error      string `json:"error"`
	ErrorType  string `json:"error_type"`  // One of the error classes, or empty.
	Retryable  bool   `json:"retryable"`   // rate_limit, server and network.
	StatusCode int    `json:"status_code"` // HTTP status where there was one, else 0.
}

// BeforeCompactionContext is handed to BeforeCompaction.
type BeforeCompactionContext struct {
	Context
	Forced         bool    `json:"forced"` // Asked for by the user.
	TokensUsed     int     `json:"tokens_used"`
	ContextPercent float64 `json:"context_percent"`
	MessageCount   int     `json:"message_count"`
	KeepLast       int     `json:"keep_last"`
}

// AfterCompactionContext is handed to AfterCompaction.
type AfterCompactionContext struct {
	Context
	Success       bool `json:"success"`
	PreMessages   int  `json:"pre_messages"`
	PostMessages  int  `json:"post_messages"`  // 0 on failure.
	SummaryLength int  `json:"summary_length"` // 0 on failure.
}

// OnAgentSwitchContext is handed to OnAgentSwitch after the active agent changed.
type OnAgentSwitchContext struct {
	Context
	PreviousAgent string `json:"previous_agent"`
	NewAgent      string `json:"new_agent"`
	Reason        string `json:"reason"` // "user", "failover", "task", "cycle" or "resume".
}

// SessionEndContext is handed to SessionEnd when a session closes.
type SessionEndContext struct {
	Context
	Reason string `json:"reason"` // "exit", "error" or "cancelled".
}
