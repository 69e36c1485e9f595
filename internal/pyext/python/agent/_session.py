"""What extensions see of the session: the session itself, its configuration, its events."""

from time import time

from agent.extensions.api import Message


class _ReadOnly:
    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__.lower()} is read-only")

    def __delattr__(self, name):
        raise AttributeError(f"{type(self).__name__.lower()} is read-only")


class Session(_ReadOnly):
    """The live session. Numbers are those of the latest event; the history is fetched when it is read."""

    __slots__ = ("_host",)

    def __init__(self, host):
        object.__setattr__(self, "_host", host)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._host.facts["session"][name]
        except KeyError:
            raise AttributeError(f"session has no {name!r}") from None

    def __repr__(self):
        return f"Session(session_id={self.session_id!r}, step_count={self.step_count})"

    @property
    def run_id(self):
        return self.session_id

    @property
    def trace_id(self):
        return self.session_id

    @property
    def total_tokens(self):
        return self.total_input_tokens + self.total_output_tokens

    @property
    def messages(self):
        """The conversation as the model sees it, without the system prompt."""
        return [Message(m) for m in self._host.fetch("messages") or ()]

    @property
    def events(self):
        """The conversation as events: user_message, assistant_message, tool_call, tool_result."""
        return history(self.messages)

    @property
    def snapshot(self):
        """Everything aura knows about the session right now, as a dict."""
        return self._host.fetch("snapshot") or {}


class Config(_ReadOnly):
    """What the session was told to do."""

    __slots__ = ("_host",)

    def __init__(self, host):
        object.__setattr__(self, "_host", host)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._host.facts["config"][name]
        except KeyError:
            raise AttributeError(f"config has no {name!r}") from None

    def get(self, name, default=None):
        return self._host.facts["config"].get(name, default)

    def __repr__(self):
        return f"Config({self._host.facts['config']!r})"


class Event:
    """Something that happened. Its fields are attributes; data holds them as a dict."""

    def __init__(self, kind, fields):
        self.type = kind
        self.data = fields
        self.__dict__.update(fields)

    def __getattr__(self, name):
        # Made when somebody asks: most handlers do not.
        if name == "id":
            from os import urandom

            self.id = urandom(8).hex()
            return self.id
        if name == "timestamp":
            self.timestamp = time()
            return self.timestamp
        # Not self.type: copies have no fields yet when they are asked for their methods.
        raise AttributeError(f"event {self.__dict__.get('type')} has no {name!r}")

    def __repr__(self):
        return f"<{self.type} {self.data!r}>"


class TextEvent(str, Event):
    """An event that is the text it carries: both event.upper() and event.content work."""

    def __new__(cls, kind, fields, key):
        return str.__new__(cls, fields[key])

    def __init__(self, kind, fields, key):
        Event.__init__(self, kind, fields)

    def __reduce__(self):  # Copies are made with what str is made of, otherwise.
        return _copy_text, (str(self), self.__dict__)

    __repr__ = str.__repr__


def _copy_text(text, fields):
    event = str.__new__(TextEvent, text)
    event.__dict__.update(fields)
    return event


class TurnEvent(Event):
    """before_turn: the messages are fetched when they are read."""

    def __init__(self, host, kind, fields):
        Event.__init__(self, kind, fields)
        self._host = host

    def __getattr__(self, name):
        if name == "messages":
            self.messages = [Message(m) for m in self._host.fetch("turn") or ()]
            return self.messages
        return Event.__getattr__(self, name)


# Events whose handlers pass a text on to each other, and where it is.
TEXTS = {"user_message": "content", "tool_result": "output"}


def make(host, kind, fields):
    """The event for a handler."""
    key = TEXTS.get(kind)
    if key is not None:
        return TextEvent(kind, fields, key)
    if kind == "before_turn":
        return TurnEvent(host, kind, fields)
    return Event(kind, fields)


def history(messages):
    """The events that a list of messages tells of."""
    out = []
    for m in messages:
        if m.role == "user":
            out.append(TextEvent("user_message", {"content": m.content or ""}, "content"))
        elif m.role == "assistant":
            calls = m.tool_calls or ()
            if m.content:
                reason = "tool_use" if calls else "end_turn"
                out.append(Event("assistant_message", {"content": m.content, "stop_reason": reason}))
            for c in calls:
                out.append(Event("tool_call", {
                    "tool_name": c.get("name"), "tool_call_id": c.get("id"), "arguments": c.get("arguments") or {},
                }))
        elif m.role == "tool":
            out.append(TextEvent("tool_result", {
                "output": m.content or "", "tool_name": m.tool_name, "tool_call_id": m.tool_call_id,
                "is_error": bool(m.is_error), "duration_ms": 0,
            }, "output"))
    return out
