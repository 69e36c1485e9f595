"""What an extension works with.

An extension is a module with a function ``register(api)``. It is called once, with
an ExtensionAPI: the handle on which everything else is registered.
"""

# Nothing expensive is imported here: every start with an extension pays for it.

__all__ = [
    "BlockResult", "EventBus", "ExtensionAPI", "ExtensionContext", "Message", "Result", "ToolSpec",
]

class BlockResult:
    """Returned by a handler to prevent what is about to happen."""

    __slots__ = ("reason",)

    def __init__(self, reason=""):
        self.reason = reason

    def __repr__(self):
        return f"BlockResult(reason={self.reason!r})"

    def __eq__(self, other):
        return isinstance(other, BlockResult) and other.reason == self.reason

    def __hash__(self):
        return hash(self.reason)


class Result:
    """Everything a handler can ask for. Parts that its event does not allow are ignored.

    message        say this to the model, in the name of role ("assistant" or "user");
                   with eject=True it is removed again after one request
    notice         show this to the user only
    disable_tools  take these tools away until the end of the turn (name patterns)
    arguments      tool_call: run the tool with these arguments instead
    ask            tool_call: let the user decide, with this reason
    text           user_message: what the user said
    output         tool_result: what the model reads
    response       after_turn, assistant_message: what is stored as the answer; drop=True stores none
    append_system  before_chat: add this to the system prompt of this request
    skip           before_chat: make no request; error: go on; before_compaction: do not compact
    retry          error: make the request again
    """

    __slots__ = ("fields",)

    KEYS = (
        "message", "role", "eject", "notice", "disable_tools", "arguments", "ask", "text", "output",
        "response", "drop", "append_system", "skip", "retry",
    )

    def __init__(self, **fields):
        for key in fields:
            if key not in self.KEYS:
                raise TypeError(f"Result has no {key!r}; it has " + ", ".join(self.KEYS))
        self.fields = fields

    def __repr__(self):
        return "Result(" + ", ".join(f"{k}={v!r}" for k, v in self.fields.items()) + ")"


class Message(dict):
    """One message of the conversation: a dict whose keys are attributes too.

    Keys: role, content, and where they apply thinking, tool_calls, tool_name,
    tool_call_id, is_error. A key that is not set reads as None.
    """

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name, value):
        self[name] = value


class ToolSpec:
    """A tool for register_tool."""

    def __init__(self, name, description="", input_schema=None, side_effects=None, requires_approval=False, handler=None):
        self.name = name
        self.description = description
        self.input_schema = {"type": "object", "properties": {}} if input_schema is None else input_schema
        if side_effects is None:
            side_effects = ("none",)
        elif isinstance(side_effects, str):  # One, not a list of its letters.
            side_effects = (side_effects,)
        self.side_effects = list(side_effects)
        self.requires_approval = requires_approval
        self.handler = handler

    def __repr__(self):
        return f"ToolSpec(name={self.name!r})"


class _Fields:
    """Makes ExtensionContext look like the dataclass it is documented as, when somebody looks."""

    def __get__(self, _, owner):
        from dataclasses import make_dataclass

        twin = make_dataclass("ExtensionContext", ["session", "config", "signal", "logger"], frozen=True)
        return twin.__dataclass_fields__


class ExtensionContext:
    """What every handler gets besides its event. It is frozen.

    session  the live session, read-only: session_id, step_count, messages, events,
             total_input_tokens, total_output_tokens, metadata, ...
    config   the configuration, read-only: agent, mode, model, provider, max_steps, ...
    signal   an asyncio.Event that is set when cancellation is requested
    logger   a logging.Logger named aar.ext.<name>; what it says from INFO on is shown to the user
    """

    __slots__ = ("session", "config", "signal", "logger")
    __dataclass_fields__ = _Fields()

    def __init__(self, session, config, signal, logger):
        put = object.__setattr__
        put(self, "session", session)
        put(self, "config", config)
        put(self, "signal", signal)
        put(self, "logger", logger)

    def __setattr__(self, name, value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self):
        return f"ExtensionContext(session={self.session!r}, config={self.config!r})"


# What a listener may raise without anybody else noticing. A coroutine that is
# cancelled raises something else, and must.
_FAILURES = (Exception, SystemExit, KeyboardInterrupt)


class EventBus:
    """Messages between extensions, and between the parts of one."""

    def __init__(self, host, extension):
        self._host = host
        self._extension = extension

    def on(self, name):
        """Decorator: call the function with the payload of every event of that name."""

        def decorate(fn):
            self._host.bus.setdefault(name, []).append((self._extension, fn))
            return fn

        return decorate

    def emit(self, name, payload=None):
        """Tell everybody, without waiting for handlers that are coroutines."""
        for owner, fn in list(self._host.bus.get(name, ())):
            try:
                result = self._host.as_owner(owner, fn, payload)
                if hasattr(result, "__await__"):
                    self._host.background(owner, result, f"event {name}")
            except _FAILURES as e:
                self._host.complain(owner, f"event {name}", e)

    async def emit_async(self, name, payload=None):
        """Tell everybody and wait until all have finished."""
        for owner, fn in list(self._host.bus.get(name, ())):
            try:
                result = self._host.as_owner(owner, fn, payload)
                if hasattr(result, "__await__"):
                    await self._host.marked(owner, result)
            except _FAILURES as e:
                self._host.complain(owner, f"event {name}", e)


class ExtensionAPI:
    """The handle on which an extension registers what it brings."""

    def __init__(self, host, extension):
        self._host = host
        self._extension = extension
        self.name = extension.name
        self.events = EventBus(host, extension)

    @staticmethod
    def block(reason=""):
        """The answer of a handler that prevents what is about to happen."""
        return BlockResult(reason)

    def on(self, event, *, on_failure="allow"):
        """Decorator: call the function with (event, ctx) when the event happens.

        on_failure="block" keeps a tool_call or user_message from happening when
        the handler itself fails.
        """
        if on_failure not in ("allow", "block"):
            raise ValueError(f"on_failure: {on_failure!r} is not one of 'allow', 'block'")

        def decorate(fn):
            events = self._host.events
            if event in events:
                self._extension.add_handler(event, fn, on_failure)
            else:
                self._host.warn(self._extension, f"there is no event {event!r}; the events are " + ", ".join(events))
            return fn

        return decorate

    def tool(self, *, name, description, input_schema, side_effects=None, requires_approval=False):
        """Decorator: offer the function to the model as a tool."""

        def decorate(fn):
            self.register_tool(ToolSpec(name, description, input_schema, side_effects, requires_approval, fn))
            return fn

        return decorate

    def register_tool(self, spec):
        """Offer a tool that is described by a ToolSpec."""
        if not isinstance(spec.name, str) or not isinstance(spec.description, str):
            raise TypeError(f"tool {spec.name!r}: its name and description must be strings")
        if not callable(spec.handler):
            raise TypeError(f"tool {spec.name!r}: its handler is not a function")
        self._host.add_tool(self._extension, spec)

    def command(self, name, *, description=""):
        """Decorator: run the function with (args, ctx) for /name. What it returns is shown."""
        if not isinstance(name, str) or not isinstance(description, str):
            raise TypeError(f"command {name!r}: its name and description must be strings")

        def decorate(fn):
            self._host.add_command(self._extension, name, description, fn)
            return fn

        return decorate

    def append_system_prompt(self, text):
        """Add a paragraph to the system prompt of every request."""
        self._host.add_prompt(self._extension, text)
