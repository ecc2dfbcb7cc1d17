"""The service `run`: executes the text of a module and calls one of its functions.

Request: `file` (the name for tracebacks), `source`, and optionally `entry` (a function) with `argument` (any JSON value).
The function gets the argument and the list of blobs, and returns a JSON value, or a JSON value and a list of blobs.
"""

import __main__ as worker


def serve(request, blobs):
    module = worker.load("lightbench_user_module", request["source"], request["file"])
    if request.get("entry") is None:
        return None, []
    returned = getattr(module, request["entry"])(request.get("argument"), blobs)
    return returned if isinstance(returned, tuple) else (returned, [])
