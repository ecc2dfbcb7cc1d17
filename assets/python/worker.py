"""The loop of a Python worker: reads requests, calls services, writes replies.

The worker starts as `python -I -B -c TEXT REQUESTS REPLIES`, where TEXT is this file and the two arguments are the numbers
of the descriptors to and from Lightbench. A message in both directions is

    4 bytes    b"LBP1"
    4 bytes    length of the header, little endian
    header     JSON: {"id", "service", "request", "blobs"} or {"id", "outcome", "blobs"}
    blobs      the bytes of each blob; the header lists their lengths

The first request, `hello`, hands over the text of the service modules. A service `NAME` is the function
`serve(request, blobs) -> (reply, blobs)` of the module `lightbench_NAME`.
"""

import json
import linecache
import os
import select
import struct
import sys
import threading
import traceback
import types

MAGIC = b"LBP1"
# As in core/python/src/message.rs.
HEADER_LIMIT = 64 << 20
BLOB_COUNT_LIMIT = 4096
# What is kept of an exception.
MESSAGE_CHARACTERS = 4096
LINE_CHARACTERS = 200
FRAMES = 32
OUTSIDE_PATHS = 16
# Prefix of the file names of this file and of the service modules.
OWN = "<lightbench>/"


class Stream:
    """The descriptors to and from Lightbench."""

    def __init__(self, requests, replies):
        self.requests = requests
        self.replies = replies
        self.blob_bytes_limit = 0

    def read(self, length):
        buffer = bytearray(length)
        view = memoryview(buffer)
        while view:
            count = os.readv(self.requests, [view])
            if count == 0:
                # Lightbench has ended or has closed its end.
                os._exit(0)
            view = view[count:]
        return bytes(buffer)

    def write(self, data):
        view = memoryview(data).cast("B")
        while view:
            view = view[os.write(self.replies, view) :]

    def request(self):
        magic, length = struct.unpack("<4sI", self.read(8))
        if magic != MAGIC or length > HEADER_LIMIT:
            sys.exit("Lightbench sent a message that this worker cannot read")
        header = json.loads(self.read(length))
        blobs = [self.read(length) for length in header["blobs"]]
        return header["id"], header["service"], header["request"], blobs

    def reply(self, identity, outcome, blobs):
        views = [memoryview(blob).cast("B") for blob in blobs]
        total = sum(view.nbytes for view in views)
        if len(views) > BLOB_COUNT_LIMIT or total > self.blob_bytes_limit:
            raise ValueError(
                f"the reply has {len(views)} blobs of {total} bytes in all;"
                f" allowed: {BLOB_COUNT_LIMIT} blobs of {self.blob_bytes_limit} bytes in all"
            )
        lengths = [view.nbytes for view in views]
        header = {"id": identity, "outcome": outcome, "blobs": lengths}
        text = json.dumps(header, allow_nan=False, ensure_ascii=False).encode("utf-8")
        if len(text) > HEADER_LIMIT:
            raise ValueError(f"the reply has {len(text)} bytes of JSON; allowed: {HEADER_LIMIT}")
        self.write(struct.pack("<4sI", MAGIC, len(text)) + text)
        for view in views:
            self.write(view)


def load(name, text, file, tree=None):
    """Loads a module from text, or from a changed syntax tree of it. Tracebacks and `inspect` find its source lines."""
    module = types.ModuleType(name)
    module.__file__ = file
    # Entries without a time are never compared with the disk.
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules[name] = module
    try:
        exec(compile(tree or text, file, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Services:
    """The service modules that `hello` handed over, loaded when they are first called."""

    def __init__(self, hello):
        self.texts = hello["modules"]
        self.readable = [os.path.realpath(path) for path in hello["readable"]]

    def module(self, service):
        """A module of ours: a service, or what services share."""
        name = "lightbench_" + service
        if name in sys.modules:
            return sys.modules[name]
        if service not in self.texts:
            raise LookupError(f"the worker has no service `{service}`")
        return load(name, self.texts[service], f"{OWN}{service}.py")

    def serve(self, service, request, blobs):
        return self.module(service).serve(request, blobs)

    def outside(self, error):
        """Paths of packages that this interpreter names and the sandbox hides, if they may explain `error`."""
        if not isinstance(error, (ImportError, PermissionError)):
            return []
        named = [path for path in sys.path if os.path.isabs(path)]
        # Editable installs of setuptools map packages to folders.
        for finder in sys.meta_path:
            module = sys.modules.get(str(getattr(finder, "__module__", "")))
            mapping = getattr(module, "MAPPING", None)
            named += mapping.values() if isinstance(mapping, dict) else []
        if isinstance(error, PermissionError):
            named.append(error.filename)
        named = [os.path.realpath(path) for path in named if isinstance(path, str)]
        hidden = [path for path in named if not self.is_readable(path)]
        return [clean(path) for path in dict.fromkeys(hidden)][:OUTSIDE_PATHS]

    def is_readable(self, path):
        return any(path == root or path.startswith(root + os.sep) for root in self.readable)


def clean(text, limit=MESSAGE_CHARACTERS):
    return str(text)[:limit].encode("utf-8", "replace").decode("utf-8")


def describe(error, outside):
    """An exception as JSON: its type, its message and the last calls, innermost last."""
    try:
        message = str(error)
    except Exception:
        message = "(the exception has no text)"
    # Calls of this file and of the service modules say nothing about the caller's code.
    calls = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is not globals() and not frame.f_code.co_filename.startswith(OWN)
    ]
    frames = [
        {
            "file": clean(frame.filename),
            "line": frame.lineno or 0,
            "function": clean(frame.name, LINE_CHARACTERS),
            "text": clean(frame.line or "", LINE_CHARACTERS),
        }
        for frame in traceback.StackSummary.extract(calls[-FRAMES:])
    ]
    kind = clean(type(error).__name__, LINE_CHARACTERS)
    return {"kind": kind, "message": clean(message), "traceback": frames, "outside": outside}


def hello(stream, request):
    stream.blob_bytes_limit = request["blob_bytes_limit"]
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    return {"version": list(sys.version_info[:3]), "prefixes": list(dict.fromkeys(prefixes))}


def answer(stream, services, identity, service, request, blobs):
    try:
        # Code of an earlier call may have removed them.
        for variable in ("HOME", "TMPDIR", "TRITON_HOME", "TRITON_CACHE_DIR"):
            os.makedirs(os.environ[variable], exist_ok=True)
        value, blobs = services.serve(service, request, blobs)
        stream.reply(identity, {"value": value}, blobs)
    except BaseException as error:
        described = describe(error, services.outside(error))
        stream.reply(identity, {"exception": described}, [])


def end_with_parent(requests):
    """Ends this process when Lightbench has ended, also during a call."""
    poll = select.poll()
    # Without a requested event, only the end of the stream is reported.
    poll.register(requests, 0)
    poll.poll()
    os._exit(0)


def close_other_descriptors(kept):
    try:
        numbers = [int(number) for number in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = range(3, 256)
    for number in numbers:
        if number > 2 and number not in kept:
            try:
                os.close(number)
            except OSError:
                # The descriptor of the listing, or a number that is not in use.
                pass


def main():
    global module
    requests, replies = int(sys.argv[1]), int(sys.argv[2])
    sys.argv = ["lightbench"]
    close_other_descriptors({requests, replies})
    if hasattr(os, "O_PATH"):
        # The rule of the sandbox for this folder holds for as long as the kernel remembers the folder.
        os.open("/proc/self", os.O_PATH | os.O_DIRECTORY)
    stream = Stream(requests, replies)
    identity, _, request, _ = stream.request()
    services = Services(request)
    module = services.module
    facts = hello(stream, request)
    threading.Thread(target=end_with_parent, args=(requests,), daemon=True).start()
    stream.reply(identity, {"value": facts}, [])
    while True:
        answer(stream, services, *stream.request())


main()
