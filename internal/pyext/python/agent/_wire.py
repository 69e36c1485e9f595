"""The wire: one JSON value per line on two private descriptors.

The json module costs more time to import than everything else together, so its C
parts are used directly; if they are not what they were, the module is.
"""

import sys
from _thread import allocate_lock, get_ident, start_new_thread

try:
    from posix import _exit, read, set_inheritable, write

    WINDOWS = False
except ImportError:  # Windows
    from nt import _exit, read, write

    WINDOWS = True

# Nothing longer crosses the wire; the other side gives up on lines that do.
MAX_FRAME = 24 << 20


def _fast():
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    class Rules:
        strict = False
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float
        memo = {}

    scan = make_scanner(Rules())

    def decode(text):
        return scan(text, 0)[0]

    def encode(value):
        return "".join(make_encoder({}, _other, encode_basestring_ascii, None, ":", ",", False, True, False)(value, 0))

    if decode(encode({"a": [1, None, "é"]})) != {"a": [1, None, "é"]}:
        raise ImportError("_json is not what it was")
    return decode, encode


def _slow():
    import json

    return json.loads, lambda value: json.dumps(value, separators=(",", ":"), default=_other, skipkeys=True, allow_nan=False)


def _other(value):
    """JSON for what JSON does not know."""
    if isinstance(value, (set, frozenset, tuple)) or hasattr(value, "__iter__"):
        return list(value)
    return str(value)


def _tame(value, depth=0):
    """A value that can be encoded, whatever it was: no cycles, no infinite numbers."""
    if depth > 50:
        return "..."
    if isinstance(value, dict):
        return {str(k): _tame(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_tame(v, depth + 1) for v in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return str(value)


try:
    decode, encode = _fast()
except Exception:
    decode, encode = _slow()


def encode_anything(value):
    """JSON for a value, whatever it is."""
    try:
        return encode(value)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return encode(_tame(value))


class Wire:
    """Both directions. Any thread may send; only the main thread receives."""

    def __init__(self, source, sink, marker):
        self.source = source
        self.sink = sink
        self.marker = marker  # A buffer of 8 bytes that the other side can read; None where there is none.
        self.lock = allocate_lock()
        self.main = get_ident()
        self.parts = []  # Of a line that is not complete.
        self.marked = 0

    def send(self, value):
        """Write one frame."""
        self.put(encode_anything(value))

    def put(self, text):
        """Write one frame that is JSON already."""
        data = text.encode("ascii", "replace") + b"\n"
        try:
            with self.lock:
                while data:
                    data = data[write(self.sink, data):]
        except OSError:
            # The other side is gone, or an extension closed the wire. The marker says which.
            _exit(70)

    def receive(self):
        """Wait for input and return the complete frames of it, perhaps none. EOFError at the end."""
        chunk = read(self.source, 1 << 16)
        if not chunk:
            raise EOFError
        if b"\n" not in chunk:
            self.parts.append(chunk)
            return ()
        self.parts.append(chunk)
        lines = b"".join(self.parts).split(b"\n")
        rest = lines.pop()
        self.parts = [rest] if rest else []
        return [decode(line.decode("utf-8", "replace")) for line in lines]

    def pending(self):
        """Whether receive would return at once."""
        from select import select

        return bool(select([self.source], [], [], 0)[0])

    def watch(self, loop, callback):
        """Have an event loop call back whenever there may be input."""
        loop.add_reader(self.source, callback)

    def unwatch(self, loop):
        loop.remove_reader(self.source)

    def mark(self, number):
        """Leave a note about who is running, for the case that the process does not survive it."""
        before, self.marked = self.marked, number
        if self.marker is not None and before != number:
            # The one before last stays readable when nobody runs.
            self.marker[0:8] = (number | (number or before) << 32).to_bytes(8, "little")
        return before


class FedWire(Wire):
    """A wire that a thread reads all the time: on Windows pipes can neither be asked nor watched."""

    def __init__(self, source, sink, marker):
        from _queue import SimpleQueue

        super().__init__(source, sink, marker)
        self.arrived = SimpleQueue()  # Lists of frames; None at the end.
        self.wake = None
        start_new_thread(self._feed, ())

    def _feed(self):
        frames = ()
        while frames is not None:
            try:
                frames = super().receive()
            except (EOFError, OSError):
                frames = None
            self.arrived.put(frames)
            wake = self.wake
            if wake is not None:
                wake()

    def receive(self):
        frames = self.arrived.get()
        if frames is None:
            self.arrived.put(None)  # It stays the end.
            raise EOFError
        return frames

    def pending(self):
        return not self.arrived.empty()

    def watch(self, loop, callback):
        def look():
            if self.pending():  # Somebody may have taken it already.
                callback()

        self.wake = lambda: loop.call_soon_threadsafe(look)
        self.wake()  # For what has arrived before.

    def unwatch(self, loop):
        self.wake = None


def open_wire():
    """The wire of this process: descriptors 3 and 4, and 5 for the marker; on Windows standard input and output."""
    if not WINDOWS:
        for fd in (3, 4, 5):
            set_inheritable(fd, False)
        try:
            from mmap import mmap

            marker = mmap(5, 8)
        except (ImportError, OSError, ValueError):
            marker = None
        wire = Wire(3, 4, marker)
    else:
        import msvcrt
        import os

        source, sink = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        for fd in (source, sink):
            msvcrt.setmode(fd, os.O_BINARY)
        wire = FedWire(source, sink, None)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    return wire
