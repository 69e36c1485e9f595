"""The process that runs extensions: it loads them and calls them when the other side says so.

It reads one frame after another and answers each. As long as no coroutine turns up
there is no event loop: asyncio costs 40 ms to import. The first coroutine starts
one, and from then on frames are read from it.
"""

import sys

from agent import _session, _wire
from agent.extensions.api import BlockResult, ExtensionAPI, ExtensionContext, Message, Result, ToolSpec

# Lines that one call may log before the rest is only counted.
MAX_LINES = 200
MAX_LINE = 8 << 10


class Extension:
    """One extension and what it registered."""

    def __init__(self, host, index, spec):
        self.host = host
        self.index = index  # From 1; 0 is nobody.
        self.name = spec["name"]
        self.path = spec.get("path") or ""
        self.entry = spec.get("entry") or ""
        self.package = bool(spec.get("package"))
        self.reset()

    def reset(self):
        self.handlers = []  # (event, function, on_failure, arguments it takes)
        self.tools = {}
        self.commands = {}
        self.prompts = []
        self.complaint = ""
        self._logger = None

    def add_handler(self, event, fn, on_failure):
        self.handlers.append((event, fn, on_failure, takes(fn, 2)))
        if self.host.ready:
            self.host.warn(self, f"a handler for {event} was added after register returned; it will not be called")

    @property
    def logger(self):
        if self._logger is None:
            self._logger = self.host.make_logger(self)
        return self._logger


class Call:
    """One thing the other side asked for."""

    __slots__ = ("id", "owner", "what", "shape", "task", "cancelled", "event", "lines")

    def __init__(self, id, owner, what, shape):
        self.id = id
        self.owner = owner
        self.what = what
        self.shape = shape  # Makes the reply from what the function returned.
        self.task = None
        self.cancelled = False
        self.event = None
        self.lines = 0

    def cancel(self):
        self.cancelled = True
        if self.event is not None:
            self.event.set()


class Context(ExtensionContext):
    """The context of one call. What costs something to make is made when it is asked for."""

    __slots__ = ("_call", "_owner")

    def __init__(self, host, owner, call):
        put = object.__setattr__
        put(self, "session", host.session)
        put(self, "config", host.config)
        put(self, "_owner", owner)
        put(self, "_call", call)

    @property
    def logger(self):
        return self._owner.logger

    @property
    def signal(self):
        if self._call.event is None:
            self._call.event = make_signal(self._owner.host, self._call)
        return self._call.event


def make_signal(host, call):
    """An asyncio.Event that also looks at the wire, for functions that are not coroutines."""
    from asyncio import Event

    class Signal(Event):
        def is_set(self):
            if not super().is_set():
                host.poll()
            return super().is_set()

    signal = Signal()
    if call.cancelled:
        signal.set()
    return signal


def takes(fn, most):
    """How many positional arguments a handler wants: handlers may leave out ctx."""
    code = getattr(fn, "__code__", None)
    bound = 0
    if code is None and hasattr(fn, "__func__"):
        code, bound = getattr(fn.__func__, "__code__", None), 1
    if code is None or code.co_flags & 0x04:  # *args
        return most
    return max(0, min(most, code.co_argcount - bound))


def context_name(fn):
    """The parameter of a tool function that gets the context; None if there is none."""
    code = getattr(fn, "__code__", None) or getattr(getattr(fn, "__func__", None), "__code__", None)
    if code is None:
        try:
            from inspect import signature

            names = list(signature(fn).parameters)
        except (TypeError, ValueError):
            return None
    else:
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    if "ctx" in names:
        return "ctx"
    try:
        hints = fn.__annotations__
    except Exception:
        return None
    for name in names:
        if hints.get(name) in (ExtensionContext, "ExtensionContext"):
            return name
    return None


class Steps:
    """A coroutine whose every step is marked as its owner's."""

    def __init__(self, host, call, coro):
        self.host = host
        self.call = call
        self.coro = coro
        self.parked = False

    def _step(self, advance, *args):
        wire = self.host.wire
        self.host.current = self.call
        before = wire.mark(self.call.owner.index)
        try:
            value = advance(*args)
        except (SystemExit, KeyboardInterrupt) as e:
            # They would end the event loop, and everybody with it.
            raise RuntimeError(brief(e)) from e
        finally:
            wire.mark(before)
            self.host.current = None
        if not self.parked and self.call.id:
            # The other side's clock for those behind it runs from now on.
            self.parked = True
            wire.put('{"id":%d,"await":true}' % self.call.id)
        return value

    def send(self, value):
        return self._step(self.coro.send, value)

    def throw(self, *args):
        return self._step(self.coro.throw, *args)

    def close(self):
        self.coro.close()

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)


async def await_it(awaitable):
    return await awaitable


class Host:
    def __init__(self, wire):
        self.wire = wire
        self.facts = {"session": {}, "config": {}}
        self.session = _session.Session(self)
        self.config = _session.Config(self)
        self.extensions = []
        self.owners = {}  # The same by number.
        self.bus = {}
        self.tool_owner = {}
        self.command_owner = {}
        self.calls = {}
        self.inbox = []
        self.current = None  # The call that is running.
        self.fetched = {}
        self.asked = 0
        self.answers = {}
        self.ready = False
        self.debug = False
        self.quiet = 0  # Lines logged outside of calls.
        self.loop = None
        self.backlog = []

    # Running.

    def run(self):
        try:
            while not self.inbox:
                self.take(self.wire.receive())
            self.start(self.inbox.pop(0))
            while self.loop is None and not self.backlog:
                for frame in self.take(self.wire.receive()):
                    self.handle(frame)
            self.run_loop()
        except (EOFError, BrokenPipeError):
            pass

    def take(self, frames):
        """Sort frames that arrived; returns the queue of those that wait, which empties it as it is walked."""
        for frame in frames:
            op = frame["op"]
            if op == "cancel":
                self.cancel(frame["id"], frame.get("now"))
            elif op == "answer":
                self.answers[frame["id"]] = frame.get("value")
            else:
                self.inbox.append(frame)
        return self.waiting()

    def waiting(self):
        while self.inbox:
            yield self.inbox.pop(0)

    def run_loop(self):
        import asyncio

        loop = self.get_loop()
        for call, coro in self.backlog:
            self.launch(call, coro)
        self.backlog = []
        if _wire.WINDOWS:
            from threading import Thread

            Thread(target=self.feed, args=(loop,), daemon=True).start()
        else:
            loop.add_reader(self.wire.source, self.readable)
        loop.call_soon(self.drain)
        try:
            loop.run_forever()
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()

    def readable(self):
        try:
            frames = self.wire.receive()
        except (EOFError, OSError):
            self.loop.stop()
            return
        for frame in self.take(frames):
            self.handle(frame)

    def drain(self):
        for frame in self.waiting():
            self.handle(frame)

    def feed(self, loop):
        """Windows: a thread reads, because pipes cannot be watched there."""
        while True:
            try:
                frames = self.wire.receive()
            except (EOFError, OSError):
                loop.call_soon_threadsafe(loop.stop)
                return
            loop.call_soon_threadsafe(lambda f=frames: [self.handle(x) for x in self.take(f)])

    def get_loop(self):
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def poll(self):
        """Look whether the running call has been cancelled."""
        if _wire.get_ident() != self.wire.main:
            return
        while self.wire.pending():
            waiting = len(self.inbox)
            self.take(self.wire.receive())
            if self.loop is not None and len(self.inbox) > waiting:
                self.loop.call_soon(self.drain)

    # Loading.

    def start(self, frame):
        """Load the extensions and tell what they registered."""
        self.debug = frame.get("debug", False)
        self.facts = frame["facts"]
        paths = frame.get("paths") or []
        sys.path.extend(p for p in paths if p not in sys.path)
        sys.dont_write_bytecode = True  # No litter beside the extensions, and never a stale copy.
        for spec in frame["extensions"]:
            # Numbers are those of the other side: the marker must mean the same to both.
            ext = self.owners[spec["index"]] = Extension(self, spec["index"], spec)
            self.extensions.append(ext)
        for ext in self.extensions:
            self.wire.mark(ext.index)
            self.wire.send({"loading": ext.index})
            self.wire.send({"loaded": self.load(ext, paths)})
        self.wire.mark(0)
        self.ready = True
        self.wire.send({"ready": True})

    def load(self, ext, paths):
        error = trace = None
        try:
            try:
                self.register(ext, self.find(ext))
            except ImportError:
                # Packages that are installed for development are found through site.
                if not paths or "site" in sys.modules:
                    raise
                import site

                for path in paths:
                    site.addsitedir(path)
                self.forget(ext)
                self.register(ext, self.find(ext))
        except BaseException as e:
            error, trace = brief(e), details(e)
            self.forget(ext)
        return {
            "index": ext.index, "error": error, "trace": trace,
            "handlers": [{"event": h[0], "on_failure": h[2]} for h in ext.handlers],
            "tools": [{
                "name": t.name, "description": t.description, "input_schema": t.input_schema,
                "side_effects": [str(getattr(s, "value", s)) for s in t.side_effects],
                "requires_approval": bool(t.requires_approval),
            } for t in ext.tools.values()],
            "commands": [{"name": n, "description": d} for n, (d, _) in ext.commands.items()],
            "prompts": ext.prompts,
        }

    def forget(self, ext):
        ext.reset()
        for owners in (self.tool_owner, self.command_owner):
            for name in [n for n, o in owners.items() if o is ext]:
                del owners[name]
        for name, handlers in self.bus.items():
            self.bus[name] = [h for h in handlers if h[0] is not ext]

    def find(self, ext):
        """The register function of an extension."""
        if ext.entry:
            name, _, function = ext.entry.partition(":")
            value = __import__(name, None, None, ["x"])
            for part in (function or "register").split("."):
                value = getattr(value, part)
            return value
        name = "aar_ext_" + ext.name
        module = type(sys)(name)
        module.__file__ = ext.path
        spec = type(sys.__spec__)(name, None, origin=ext.path, is_package=ext.package)
        if ext.package:
            where = ext.path.rstrip("/\\")[:-len("__init__.py") - 1]
            module.__path__ = [where]
            spec.submodule_search_locations = [where]
        module.__spec__ = spec
        module.__package__ = spec.parent
        with open(ext.path, "rb") as f:
            source = f.read()
        # Files as they are printed in guides, without imports, work too.
        names = module.__dict__
        names.update(ExtensionAPI=ExtensionAPI, ExtensionContext=ExtensionContext, BlockResult=BlockResult,
                     ToolSpec=ToolSpec, Result=Result, Message=Message)
        if b"SideEffect" in source:
            from agent.tools.schema import SideEffect

            names["SideEffect"] = SideEffect
        for old in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
            del sys.modules[old]
        sys.modules[name] = module
        exec(compile(source, ext.path, "exec", dont_inherit=True), names)
        register = names.get("register")
        if not callable(register):
            raise LookupError("it has no register(api) function")
        return register

    def register(self, ext, function):
        result = function(ExtensionAPI(self, ext))
        if hasattr(result, "__await__"):
            self.get_loop().run_until_complete(await_it(result))

    def add_tool(self, ext, spec):
        owner = self.tool_owner.setdefault(spec.name, ext)
        if owner is not ext or spec.name in ext.tools:
            self.warn(ext, f"tool {spec.name!r} is already registered by extension {owner.name!r}; it is left out")
            return
        ext.tools[spec.name] = spec

    def add_command(self, ext, name, description, fn):
        name = name.removeprefix("/")
        owner = self.command_owner.setdefault(name, ext)
        if owner is not ext or name in ext.commands:
            self.warn(ext, f"command /{name} is already registered by extension {owner.name!r}; it is left out")
            return
        ext.commands[name] = (description, fn)

    def add_prompt(self, ext, text):
        ext.prompts.append(str(text))
        if self.ready:
            self.wire.send({"prompts": ext.prompts, "index": ext.index})

    # Calls.

    def handle(self, frame):
        facts = frame.get("facts")
        if facts is not None:
            self.facts = facts
        self.fetched = {}
        self.quiet = 0
        op = frame["op"]
        if op == "chunks":
            self.chunks(frame)
            return
        owner = self.owners[frame["owner"]]
        call = Call(frame["id"], owner, op, None)
        try:
            fn, args, kwargs, call.shape = self.prepare(op, frame, owner, call)
        except Exception as e:
            self.fail(call, e)
            return
        self.calls[call.id] = call
        self.invoke(call, fn, args, kwargs)

    def prepare(self, op, frame, owner, call):
        """What a frame asks for: function, arguments, and how to read the result."""
        context = Context(self, owner, call)
        if op == "event":
            kind, fn, _, wanted = owner.handlers[frame["handler"]]
            args = (_session.make(self, kind, frame["event"]), context)[:wanted]
            return fn, args, {}, lambda value: shape_event(self, owner, kind, value)
        if op == "tool":
            fn = owner.tools[frame["name"]].handler
            kwargs = frame["args"]
            name = context_name(fn)
            if name is not None:
                kwargs[name] = context
            return fn, (), kwargs, shape_tool
        _, fn = owner.commands[frame["name"]]
        return fn, (frame["args"], context)[:takes(fn, 2)], {}, shape_command

    def invoke(self, call, fn, args, kwargs):
        self.current = call
        self.wire.mark(call.owner.index)
        try:
            value = fn(*args, **kwargs)
            if value is not None and hasattr(value, "__await__"):
                self.await_value(call, value)
                return
            self.finish(call, value)
        except BaseException as e:
            self.fail(call, e)
        finally:
            self.current = None
            self.wire.mark(0)

    def await_value(self, call, value):
        if self.loop is not None and self.loop.is_running():
            self.launch(call, value)
        else:
            self.backlog.append((call, value))

    def launch(self, call, value):
        if not hasattr(value, "send"):
            value = await_it(value)
        steps = Steps(self, call, value)
        if sys.version_info >= (3, 12):
            import asyncio

            task = asyncio.Task(steps, loop=self.loop, eager_start=True)
        else:
            task = self.loop.create_task(steps)
        call.task = task
        if task.done():
            self.done(call, task)
        else:
            task.add_done_callback(lambda t: self.done(call, t))

    def done(self, call, task):
        if task.cancelled():
            self.fail(call, InterruptedError("cancelled"))
        elif task.exception() is not None:
            self.fail(call, task.exception())
        else:
            try:
                self.finish(call, task.result())
            except BaseException as e:
                self.fail(call, e)

    def finish(self, call, value):
        if not call.id:
            return
        reply = call.shape(value)
        self.close(call)
        if reply is None:
            self.wire.put('{"id":%d}' % call.id)
            return
        try:
            text = _wire.encode({"id": call.id, "ok": reply})
        except (ValueError, TypeError, RecursionError, OverflowError):
            text = _wire.encode({"id": call.id, "ok": _wire._tame(reply)})
        if len(text) > _wire.MAX_FRAME:
            raise OverflowError(f"the answer has {len(text)} bytes, more than {_wire.MAX_FRAME}")
        self.wire.put(text)

    def fail(self, call, error):
        if not call.id:
            self.complain(call.owner, call.what, error)
            return
        self.close(call)
        self.wire.send({"id": call.id, "error": brief(error), "trace": details(error)})

    def close(self, call):
        self.calls.pop(call.id, None)
        if call.lines > MAX_LINES:
            self.log(call.owner, 30, f"... {call.lines - MAX_LINES} more lines left out")

    def cancel(self, id, now):
        call = self.calls.get(id)
        if call is None:
            return
        call.cancel()
        if call.task is not None:
            # A coroutine that watches its signal gets a moment to end by itself.
            self.loop.call_later(0 if now else 0.5, call.task.cancel)

    def chunks(self, frame):
        """Pieces of a stream: many at a time, nobody waits for an answer to each."""
        kind = "stream_chunk"
        for index, handler, fields in frame["items"]:
            owner = self.owners[index]
            call = Call(0, owner, kind, None)
            _, fn, _, wanted = owner.handlers[handler]
            self.invoke(call, fn, (_session.Event(kind, fields), Context(self, owner, call))[:wanted], {})
        self.wire.put('{"id":%d}' % frame["id"])

    def background(self, owner, awaitable, what):
        """Run something that nobody waits for."""
        self.await_value(Call(0, owner, what, None), awaitable)

    def enter(self, owner):
        """Mark another extension as the one that runs; returns the one before."""
        before = self.wire.mark(owner.index if isinstance(owner, Extension) else owner)
        return before

    def fetch(self, what):
        """Ask the other side for something large. It is the same all through a call."""
        if what in self.fetched:
            return self.fetched[what]
        call = self.current
        if call is None or not call.id or _wire.get_ident() != self.wire.main:
            return None
        self.asked += 1
        number = self.asked
        self.wire.put('{"id":%d,"ask":"%s","number":%d}' % (call.id, what, number))
        waiting = len(self.inbox)
        while number not in self.answers:
            self.take(self.wire.receive())
        if self.loop is not None and len(self.inbox) > waiting:
            self.loop.call_soon(self.drain)
        value = self.fetched[what] = self.answers.pop(number)
        return value

    # Talking to the person.

    def make_logger(self, owner):
        import logging

        host = self

        class Handler(logging.Handler):
            def emit(self, record):
                try:
                    host.log(owner, record.levelno, record.getMessage(), details(record.exc_info[1]) if record.exc_info else None)
                except Exception as e:
                    host.log(owner, 40, f"log line could not be made: {brief(e)}")

        logger = logging.getLogger("aar.ext." + owner.name)
        logger.setLevel(logging.DEBUG if self.debug else logging.INFO)
        logger.handlers[:] = [Handler()]
        return logger

    def log(self, owner, level, text, trace=None):
        call = self.current
        if call is not None and call.id:
            call.lines += 1
            if call.lines > MAX_LINES and not text.startswith("... "):
                return
        else:
            self.quiet += 1
            if self.quiet > MAX_LINES:
                return
        if len(text) > MAX_LINE:
            text = text[:MAX_LINE] + "..."
        self.wire.send({"log": text, "level": level, "index": owner.index, "trace": trace})

    def warn(self, owner, text):
        self.log(owner, 30, text)

    def complain(self, owner, what, error):
        """Report an error that nobody waits for; the same one over and over only once."""
        text = f"{what}: {brief(error)}"
        if text != owner.complaint:
            owner.complaint = text
            self.log(owner, 40, text, details(error))


def shape_event(host, owner, kind, value):
    """What the return value of an event handler means."""
    if value is None:
        return None
    if isinstance(value, BlockResult):
        return {"block": True, "reason": str(value.reason)}
    if isinstance(value, Result):
        return value.fields
    if isinstance(value, str) and kind == "user_message":
        return {"text": str(value)}
    if isinstance(value, str) and kind == "tool_result":
        return {"output": str(value)}
    if isinstance(value, (list, tuple)) and kind == "before_turn":
        return {"messages": [shape_message(m) for m in value]}
    host.log(owner, 10, f"{kind}: a return value of type {type(value).__name__} means nothing here")
    return None


def shape_message(m):
    if isinstance(m, dict):
        out = dict(m)
    else:
        out = {k: getattr(m, k) for k in ("id", "role", "content", "thinking", "tool_name", "tool_call_id", "tool_calls")
               if getattr(m, k, None) is not None}
    if not isinstance(out.get("role"), str):
        raise TypeError(f"before_turn: a message needs a role and a content, got {m!r:.80}")
    content = out.get("content")
    out["content"] = "" if content is None else str(content)
    out.pop("is_error", None)
    return out


def shape_tool(value):
    if value is None:
        return {"value": ""}
    if isinstance(value, str):
        return {"value": str(value)}
    if isinstance(value, (dict, list, tuple)):
        try:
            return {"value": _wire.encode(value)}
        except (ValueError, TypeError, RecursionError):
            return {"value": _wire.encode(_wire._tame(value))}
    return {"value": str(value)}


def shape_command(value):
    return None if value is None else shape_tool(value)


def brief(error):
    """One line about an error."""
    name = type(error).__name__
    if isinstance(error, LookupError) and not isinstance(error, (KeyError, IndexError)):
        return str(error)
    if isinstance(error, SyntaxError):
        where = f" ({error.filename}, line {error.lineno})" if error.filename else ""
        return f"{name}: {error.msg}{where}"
    text = str(error)
    if len(text) > 2000:
        text = text[:2000] + "..."
    return f"{name}: {text}" if text else name


def details(error):
    """The traceback, for the log."""
    from traceback import format_exception

    try:
        lines = "".join(format_exception(type(error), error, error.__traceback__, limit=30))
    except Exception:
        return None
    return lines[-8000:]


def main():
    wire = _wire.open_wire()
    Host(wire).run()
