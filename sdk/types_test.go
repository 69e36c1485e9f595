package sdk_test

import (
	"testing"
	"time"

	"github.com/idelchi/aura/sdk"
)

// The types below repeat the SDK as the plugin guide prints it. A conversion
// compiles only if both have the same fields, in the same order and of the same
// types, so this file does not build when the SDK leaves the guide. Fields that
// aura adds are marked.
// SD-01 SD-02 SD-05 SD-09 SD-10 SD-16 SD-17 SD-19 SD-21 SD-22 SD-43..SD-52 SD-54..SD-67
var (
	_ = sdk.TokenState(tokenState{})
	_ = sdk.ModelInfo(modelInfo{})
	_ = sdk.Stats(stats{})
	_ = sdk.ToolCount(toolCount{})
	_ = sdk.ToolCall(toolCall{})
	_ = sdk.FeatureState(featureState{})
	_ = sdk.Turn(turn{})
	_ = sdk.Context(guideContext{})

	_ = sdk.BeforeChatContext(beforeChatContext{})
	_ = sdk.AfterResponseContext(afterResponseContext{})
	_ = sdk.BeforeToolContext(beforeToolContext{})
	_ = sdk.AfterToolContext(afterToolContext{})
	_ = sdk.OnErrorContext(onErrorContext{})
	_ = sdk.BeforeCompactionContext(beforeCompactionContext{})
	_ = sdk.AfterCompactionContext(afterCompactionContext{})
	_ = sdk.OnAgentSwitchContext(onAgentSwitchContext{})
	_ = sdk.TransformContext(transformContext{})

	_ = sdk.Result(result{})
	_ = sdk.CompactionModification(compactionModification{})
	_ = sdk.ResponseModification(responseModification{})
	_ = sdk.ErrorModification(errorModification{})
	_ = sdk.RequestModification(requestModification{})
	_ = sdk.BeforeToolResult(beforeToolResult{})

	_ = sdk.CommandSchema(commandSchema{})
	_ = sdk.CommandResult(commandResult{})
	_ = sdk.ToolSchema(toolSchema{})
	_ = sdk.ToolParameters(toolParameters{})
	_ = sdk.ToolProperty(toolProperty{})
	_ = sdk.ToolPaths(toolPaths{})
	_ = sdk.ToolConfig(toolConfig{})
	_ = sdk.Message(message{})
	_ = sdk.MessageToolCall(messageToolCall{})

	_ sdk.Role = sdk.RoleUser
	_          = string(sdk.RoleAssistant)
)

type tokenState struct {
	Estimate int
	LastAPI  int
	Percent  float64
	Max      int
}

type modelInfo struct {
	Name           string
	Family         string
	ParameterCount int64
	ContextLength  int
	Capabilities   []string
}

type stats struct {
	StartTime    time.Time
	Duration     time.Duration
	Interactions int
	Turns        int
	Iterations   int
	ToolCalls    int
	ToolErrors   int
	ParseRetries int
	Compactions  int
	TokensIn     int
	TokensOut    int
	TopTools     []sdk.ToolCount
}

type toolCount struct {
	Name  string
	Count int
}

type toolCall struct {
	Name     string
	Args     map[string]any
	ArgsJSON string
	Result   string
	Error    string
	Duration time.Duration
}

type featureState struct {
	Sandbox           bool
	ReadBeforeWrite   bool
	ShowThinking      bool
	CompactionEnabled bool
}

type turn struct {
	Role    string
	Content string
}

type guideContext struct {
	Iteration    int
	Tokens       sdk.TokenState
	Agent        string
	Mode         string
	ModelInfo    sdk.ModelInfo
	Stats        sdk.Stats
	Workdir      string
	MessageCount int

	Auto                 bool
	DoneActive           bool
	ResponseEmpty        bool
	ResponseContentEmpty bool
	HasToolCalls         bool
	MaxSteps             int

	TodoPending    int
	TodoInProgress int
	TodoTotal      int

	PatchCounts map[string]int
	ToolHistory []sdk.ToolCall

	SessionID    string
	SessionTitle string

	Provider  string
	ThinkMode string

	Features sdk.FeatureState

	AvailableTools []string
	LoadedTools    []string

	Turns []sdk.Turn

	SystemPrompt string

	MCPServers []string

	Vars map[string]string

	PluginConfig map[string]any
}

type beforeChatContext struct{ sdk.Context }

type afterResponseContext struct {
	sdk.Context
	Response string
	Thinking string
	Calls    []sdk.ToolCall
}

type beforeToolContext struct {
	sdk.Context
	ToolName   string
	ToolCallID string // Added.
	Arguments  map[string]any
}

type afterToolContext struct {
	sdk.Context
	ToolName     string
	ToolCallID   string         // Added.
	Arguments    map[string]any // Added.
	ToolResult   string
	ToolError    string
	ToolDuration time.Duration
}

type onErrorContext struct {
	sdk.Context
	Error      string
	ErrorType  string
	Retryable  bool
	StatusCode int
}

type beforeCompactionContext struct {
	sdk.Context
	Forced         bool
	TokensUsed     int
	ContextPercent float64
	MessageCount   int
	KeepLast       int
}

type afterCompactionContext struct {
	sdk.Context
	Success       bool
	PreMessages   int
	PostMessages  int
	SummaryLength int
}

type onAgentSwitchContext struct {
	sdk.Context
	PreviousAgent string
	NewAgent      string
	Reason        string
}

type transformContext struct {
	sdk.Context
	Messages []sdk.Message
}

type result struct {
	Message      string
	Role         sdk.Role
	Prefix       string
	Eject        bool
	DisableTools []string
	Notice       string
	Output       *string
	Response     *sdk.ResponseModification
	Error        *sdk.ErrorModification
	Request      *sdk.RequestModification
	Compaction   *sdk.CompactionModification
}

type compactionModification struct{ Skip bool }

type responseModification struct {
	Skip    bool
	Content *string
}

type errorModification struct {
	Retry bool
	Skip  bool
}

type requestModification struct {
	AppendSystem *string
	Skip         bool
}

type beforeToolResult struct {
	sdk.Result
	Arguments map[string]any
	Block     bool
}

type commandSchema struct {
	Name        string
	Description string
	Hints       []string
	Forward     bool
	Silent      bool
}

type commandResult struct{ Output string }

type toolSchema struct {
	Name        string
	Description string
	Usage       string
	Examples    string
	Parameters  sdk.ToolParameters
}

type toolParameters struct {
	Type       string
	Properties map[string]sdk.ToolProperty
	Required   []string
}

type toolProperty struct {
	Type        string
	Description string
	Enum        []any
}

type toolPaths struct {
	Read   []string
	Write  []string
	Record []string
	Guard  []string
	Clear  []string
}

type toolConfig struct {
	HomeDir   string
	ConfigDir string
}

type message struct {
	ID         string
	Role       string
	Content    string
	Thinking   string
	ToolName   string
	ToolCallID string
	ToolCalls  []sdk.MessageToolCall
	Tokens     int
	Type       string
	CreatedAt  time.Time
}

type messageToolCall struct {
	ID        string
	Name      string
	Arguments map[string]any
}

// Code as the guide writes it: promoted fields and embedded results. SD-43 SD-59
func TestPromotion(t *testing.T) {
	t.Parallel()
	hctx := sdk.BeforeToolContext{
		Context:  sdk.Context{Tokens: sdk.TokenState{Estimate: 7}, Iteration: 2},
		ToolName: "Bash",
	}
	if hctx.Tokens.Estimate != 7 || hctx.Iteration != 2 {
		t.Errorf("promoted fields: %+v", hctx)
	}
	res := sdk.BeforeToolResult{Result: sdk.Result{Message: "no", Role: sdk.RoleUser}, Block: true}
	if res.Message != "no" || res.Role != "user" {
		t.Errorf("promoted result: %+v", res)
	}
	var compaction sdk.BeforeCompactionContext
	compaction.MessageCount, compaction.Context.MessageCount = 1, 2
	if compaction.MessageCount != 1 {
		t.Error("the timing's own MessageCount does not shadow the snapshot's")
	}
}
