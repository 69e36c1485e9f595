"""The events of extensions, for editors and type checkers.

Handlers get objects with these attributes; they need not import anything from here.
Written by "make generate" from the table of moments.
"""


class SessionStart:
    """session_start: a session begins or resumes."""

    action: str
    session_id: str
    resumed: bool
    reason: str


class UserMessage:
    """user_message: the user has said something."""

    content: str


class BeforeChat:
    """before_chat: before each model call."""

    iteration: int


class BeforeTurn:
    """before_turn: the messages of a model call are complete."""

    iteration: int


class StreamChunk:
    """stream_chunk: a piece of the answer arrived."""

    text: str
    reasoning_text: str
    finished: bool


class AfterTurn:
    """after_turn: an answer is complete, its tools have not run."""

    content: str
    thinking: str
    stop_reason: str
    tool_calls: list


class AssistantMessage:
    """assistant_message: an answer is complete, its tools have not run."""

    content: str
    thinking: str
    stop_reason: str
    tool_calls: list


class ToolCall:
    """tool_call: before each tool call."""

    tool_name: str
    tool_call_id: str
    arguments: dict
    agent: str


class ToolResult:
    """tool_result: a tool call has finished."""

    output: str
    tool_name: str
    tool_call_id: str
    arguments: dict
    is_error: bool
    error: str
    duration_ms: float


class Error:
    """error: a provider error survived every recovery."""

    message: str
    recoverable: bool
    error_type: str
    status_code: int


class BeforeCompaction:
    """before_compaction: before the history is compacted."""

    forced: bool
    tokens_used: int
    context_percent: float
    message_count: int
    keep_last: int


class AfterCompaction:
    """after_compaction: the history was compacted."""

    success: bool
    pre_messages: int
    post_messages: int
    summary_length: int


class AgentSwitch:
    """agent_switch: another agent took over."""

    previous_agent: str
    new_agent: str
    reason: str


class SessionEnd:
    """session_end: the session closes."""

    action: str
    session_id: str
    resumed: bool
    reason: str


EVENTS = {
    "session_start": SessionStart,
    "user_message": UserMessage,
    "before_chat": BeforeChat,
    "before_turn": BeforeTurn,
    "stream_chunk": StreamChunk,
    "after_turn": AfterTurn,
    "assistant_message": AssistantMessage,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "error": Error,
    "before_compaction": BeforeCompaction,
    "after_compaction": AfterCompaction,
    "agent_switch": AgentSwitch,
    "session_end": SessionEnd,
}
