package provider

import (
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// What a client speaks of besides requests and responses: the entries of the
// conversation, and what is known about a model.
type (
	Message   = message.Message
	Image     = message.Image
	Thought   = message.Thought
	ToolCall  = sdk.MessageToolCall
	ModelInfo = sdk.ModelInfo
)

// Roles of messages.
const (
	RoleSystem    = message.System
	RoleUser      = message.User
	RoleAssistant = message.Assistant
	RoleTool      = message.Tool
)

// Types of messages that clients tell apart: what was said, and what was injected.
const (
	TypeNormal    = sdk.TypeNormal
	TypeSynthetic = sdk.TypeSynthetic
)
