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
        self.complaint = ""  # The latest one.
        self.told = False  # The other side knows what it registered.
        self._logger = None

    def add_handler(self, event, fn, on_failure):
        if self.host.too_late(self, f"a handler for {event}"):
            return
        self.handlers.append((event, fn, on_failure, takes(fn, 2)))

    @property
    def logger(self):
        if self._logger is None:
            self._logger = self.host.make_logger(self)
        return self._logger


class Call:
    """One thing the other side asked for."""

    __slots__ = ("id", "owner", "what", "shape", "task", "cancelled", "signal", "lines", "fetched")

    def __init__(self, id, owner, what, shape):
        self.id = id  # 0: nobody waits for an answer.
        self.owner = owner
        self.what = what
        self.shape = shape  # Makes the reply from what the function returned.
        self.task = None
        self.cancelled = False
        self.signal = None  # Made when somebody asks for it.
        self.lines = 0  # Logged so far.
        self.fetched = None  # What it asked the other side for, by name.

    def cancel(self):
        self.cancelled = True
        if self.signal is not None:
            self.signal.set()


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
        call = self._call
        if call.signal is None:
            call.signal = self._owner.host.make_signal()
            if call.cancelled:
                call.signal.set()
        return call.signal


# Flags of code objects, as in inspect: *args and **kwargs.
VARARGS, VARKEYWORDS = 0x04, 0x08


def unwrapped(fn, flag):
    """The function whose parameters count: that inside a decorator which passes all of them on."""
    while hasattr(fn, "__wrapped__") and getattr(getattr(fn, "__code__", None), "co_flags", 0) & flag:
        fn = fn.__wrapped__
    return fn


def takes(fn, most):
    """How many positional arguments a handler wants: handlers may leave out ctx."""
    fn = unwrapped(fn, VARARGS)
    code = getattr(fn, "__code__", None)
    bound = 0
    if code is None and hasattr(fn, "__func__"):
        code, bound = getattr(fn.__func__, "__code__", None), 1
    if code is None or code.co_flags & VARARGS:
        return most
    return max(0, min(most, code.co_argcount - bound))


def context_name(fn):
    """The parameter of a tool function that gets the context; None if there is none."""
    fn = unwrapped(fn, VARKEYWORDS)
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


class Marked:
    """A coroutine whose every step is marked as its owner's."""

    def __init__(self, host, owner, coro):
        self.host = host
        self.owner = owner
        self.coro = coro

    def _step(self, advance, *args):
        return self.host.as_owner(self.owner, advance, *args)

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


class Steps(Marked):
    """The coroutine of a call.

    Steps can happen inside each other: one coroutine tells the bus something, and
    another one that listens begins at once.
    """

    def __init__(self, host, call, coro):
        super().__init__(host, call.owner, coro)
        self.call = call
        self.parked = False

    def _step(self, advance, *args):
        host, wire = self.host, self.host.wire
        interrupted, host.current = host.current, self.call
        before = wire.mark(self.owner.index)
        try:
            value = advance(*args)
        except (SystemExit, KeyboardInterrupt) as e:
            # They would end the event loop, and everybody with it.
            raise RuntimeError(brief(e)) from e
        finally:
            wire.mark(before)
            host.current = interrupted
        if not self.parked and self.call.id:
            # The other side's clock for those behind it runs from now on.
            self.parked = True
            wire.put('{"id":%d,"await":true}' % self.call.id)
        return value


def coroutine(awaitable):
    """Something with steps, from something that can be awaited."""
    return awaitable if hasattr(awaitable, "send") else await_it(awaitable)


async def await_it(awaitable):
    return await awaitable


class Host:
    """This end of the wire: the extensions, and the calls that have not been answered."""

    def __init__(self, wire):
        self.wire = wire
        self.facts = {"session": {}, "config": {}}
        self.session = _session.Session(self)
        self.config = _session.Config(self)
        self.extensions = []
        self.owners = {}  # The same by number.
        self.bus = {}  # Name of an event to (extension, function) of each listener.
        self.tool_owner = {}  # Name of a tool to its extension.
        self.command_owner = {}
        self.calls = {}  # Calls that have begun, by number.
        self.inbox = []  # Frames of calls that have not.
        self.aside = True  # Input may have been taken behind the loop's back.
        self.current = None  # The call that is running.
        self.asked = 0  # Number of the latest question to the other side.
        self.answers = {}  # Frames that answer questions, by number.
        self.debug = False
        self.quiet = 0  # Lines logged outside of calls.
        self.signal_type = None
        self.loop = None
        self.backlog = []  # Coroutines that wait for the loop to run, with their calls.

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
                self.answers[frame["id"]] = frame
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
        self.wire.watch(loop, self.readable)
        loop.call_soon(self.drain)
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:  # They may clean up; the other side does not wait long.
            loop.run_until_complete(asyncio.wait(tasks, timeout=0.5))

    def readable(self):
        """The loop says that there is input."""
        if self.aside:
            self.aside = False
            if not self.wire.pending():
                return  # To wait for it would stop everybody.
        try:
            frames = self.wire.receive()
        except (EOFError, OSError):
            self.wire.unwatch(self.loop)
            self.loop.stop()
            return
        for frame in self.take(frames):
            self.handle(frame)

    def drain(self):
        for frame in self.waiting():
            self.handle(frame)

    def get_loop(self):
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def on_main_thread(self):
        return _wire.get_ident() == self.wire.main

    def poll(self):
        """Look whether the running call has been cancelled."""
        if self.on_main_thread():
            while self.wire.pending():
                self.take_aside(self.wire.receive())

    def take_aside(self, frames):
        """Sort frames that arrived in the middle of a call; what they ask for is done after it."""
        self.aside = True
        waiting = len(self.inbox)
        self.take(frames)
        if self.loop is not None and len(self.inbox) > waiting:
            self.loop.call_soon(self.drain)

    def make_signal(self):
        """An asyncio.Event that also looks at the wire, for functions that are not coroutines."""
        if self.signal_type is None:
            from asyncio import Event

            class Signal(Event):
                def is_set(signal):
                    if not super().is_set():
                        self.poll()
                    return super().is_set()

            self.signal_type = Signal
        return self.signal_type()

    # Loading.

    def start(self, frame):
        """Load the extensions and tell what they registered."""
        self.debug = frame.get("debug", False)
        self.facts = frame["facts"]
        self.events = frame["events"]
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
            ext.told = True
        self.wire.mark(0)
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
            error, trace = brief(e) + place(e, ext), details(e)
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

    def too_late(self, ext, what):
        """Whether something is registered after the other side was told what there is."""
        if ext.told:
            self.warn(ext, f"{what} was added after register returned; it is left out")
        return ext.told

    def add_tool(self, ext, spec):
        if self.too_late(ext, f"tool {spec.name!r}"):
            return
        owner = self.tool_owner.setdefault(spec.name, ext)
        if owner is not ext or spec.name in ext.tools:
            self.warn(ext, f"tool {spec.name!r} is already registered by extension {owner.name!r}; it is left out")
            return
        ext.tools[spec.name] = spec

    def add_command(self, ext, name, description, fn):
        name = name.removeprefix("/")
        if self.too_late(ext, f"command /{name}"):
            return
        owner = self.command_owner.setdefault(name, ext)
        if owner is not ext or name in ext.commands:
            self.warn(ext, f"command /{name} is already registered by extension {owner.name!r}; it is left out")
            return
        ext.commands[name] = (description, fn)

    def add_prompt(self, ext, text):
        ext.prompts.append(str(text))
        if ext.told:
            self.wire.send({"prompts": ext.prompts, "index": ext.index})

    # Calls.

    def handle(self, frame):
        facts = frame.get("facts")
        if facts is not None:
            self.facts = facts
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
        steps = Steps(self, call, coroutine(value))
        if sys.version_info >= (3, 12):
            import asyncio

            task = asyncio.Task(steps, loop=self.loop, eager_start=True)
        else:
            task = self.loop.create_task(steps)
        call.task = task
        if call.cancelled:
            self.end_soon(call)
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
        if reply is None:
            text = '{"id":%d}' % call.id
        else:
            text = _wire.encode_anything({"id": call.id, "ok": reply})
            if len(text) > _wire.MAX_FRAME:
                raise OverflowError(f"the answer has {len(text)} bytes, more than {_wire.MAX_FRAME}")
        self.close(call)
        self.wire.put(text)

    def fail(self, call, error):
        if not call.id:
            self.complain(call.owner, call.what, error)
            return
        self.close(call)
        text = brief(error)
        if call.what != "tool":  # That one is for the model.
            text += place(error, call.owner)
        self.wire.send({"id": call.id, "error": text, "trace": details(error)})

    def close(self, call):
        self.calls.pop(call.id, None)
        if call.lines > MAX_LINES:
            self.say(call.owner, 30, f"... {call.lines - MAX_LINES} more lines left out")

    def cancel(self, id, now):
        call = self.calls.get(id)
        if call is None:
            self.withdraw(id)
            return
        call.cancel()
        if call.task is not None:
            self.end_soon(call, 0 if now else 0.5)

    def end_soon(self, call, after=0.5):
        """Cancel a coroutine; one that watches its signal gets a moment to end by itself."""
        self.loop.call_later(after, call.task.cancel)

    def withdraw(self, id):
        """A call that was cancelled before it began never does."""
        for i, frame in enumerate(self.inbox):
            if frame.get("id") == id and frame["op"] != "chunks":
                del self.inbox[i]
                self.wire.send({"id": id, "error": "cancelled"})
                return

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
        call = Call(0, owner, what, None)
        if self.on_main_thread() or self.loop is None:
            self.await_value(call, awaitable)
        else:
            self.loop.call_soon_threadsafe(self.await_value, call, awaitable)

    def as_owner(self, owner, fn, *args):
        """Call a function of another extension: if the process does not survive it, it is that one's fault."""
        if not self.on_main_thread():
            return fn(*args)  # The marker is about the main thread.
        before = self.wire.mark(owner.index)
        try:
            return fn(*args)
        finally:
            self.wire.mark(before)

    def marked(self, owner, awaitable):
        """The same for something that is awaited."""
        return Marked(self, owner, coroutine(awaitable))

    def fetch(self, what):
        """Ask the other side for something large. It is the same all through a call."""
        call = self.current
        if call is None or not call.id or not self.on_main_thread():
            raise RuntimeError(
                f"{what} of the session can be read while a handler, tool or command runs, "
                "not in stream_chunk, in the background or in a thread")
        if call.fetched is None:
            call.fetched = {}
        elif what in call.fetched:
            return call.fetched[what]
        self.asked += 1
        number = self.asked
        self.wire.put('{"id":%d,"ask":"%s","number":%d}' % (call.id, what, number))
        while number not in self.answers:
            self.take_aside(self.wire.receive())
        answer = self.answers.pop(number)
        if "error" in answer:
            raise InterruptedError(answer["error"])
        value = call.fetched[what] = answer["value"]
        return value

    # Talking to the user.

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
        """Say something, up to a number of lines."""
        call = self.current
        if call is not None and call.id:
            call.lines += 1
            if call.lines > MAX_LINES:
                return
        else:
            self.quiet += 1
            if self.quiet > MAX_LINES:
                return
        self.say(owner, level, text, trace)

    def say(self, owner, level, text, trace=None):
        if len(text) > MAX_LINE:
            text = text[:MAX_LINE] + "..."
        self.wire.send({"log": text, "level": level, "index": owner.index, "trace": trace})

    def warn(self, owner, text):
        self.log(owner, 30, text)

    def puzzled(self, owner, text):
        """Warn about something that is no error; the same over and over only once."""
        if text != owner.complaint:
            owner.complaint = text
            self.warn(owner, text)

    def complain(self, owner, what, error):
        """Report an error that nobody waits for; the same one over and over only once."""
        text = f"{what}: {brief(error)}{place(error, owner)}"
        if text != owner.complaint:
            owner.complaint = text
            self.log(owner, 40, text, details(error))


# Events whose handlers decide something, and what they have to return for it.
DECIDES = {
    "tool_call": 'return api.block("why") to refuse the call',
    "user_message": 'return a text to replace it, or api.block("why")',
    "tool_result": "return a text to replace it",
    "before_turn": "return the list of messages",
}


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
    what = f"{kind}: a return value of type {type(value).__name__} means nothing here"
    if kind in DECIDES:
        # Somebody meant something by it: a gate that does not hold must not be silent.
        host.puzzled(owner, f"{what}: {DECIDES[kind]}")
    else:
        host.log(owner, 10, what)
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
        return {"value": _wire.encode_anything(value)}
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


def place(error, owner):
    """Where in the files of an extension an error came from; empty if it is not known, or said already."""
    where = owner.path.replace("\\", "/")
    if owner.package:
        where = where.rpartition("/")[0]
    if not where or isinstance(error, SyntaxError):
        return ""
    found, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename.replace("\\", "/")
        if name == where or owner.package and name.startswith(where + "/"):
            found = f" ({name.rpartition('/')[2]}, line {step.tb_lineno})"
        step = step.tb_next
    return found


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
