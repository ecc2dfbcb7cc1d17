"""The service `torch_baseline`: calls a function of PyTorch on a GPU in the types that its text requests, and times it.

Request: as of the service `reference`, without `precision`, and

    device          the number of the GPU
    sampling        null, or the limits of the sampling: rounds, per_round, seconds

The reply has `version`, of PyTorch, and `cold` and `warm`: the seconds of each sample by CUDA events, round by round. The
blobs of both directions have elements as in the memory of a kernel; those of the reply are the outputs of the first call.
"""

import contextlib
import time

import torch

import __main__ as worker

reference = worker.module("reference")
torch_reference = worker.module("torch_reference")

# A sample waits on the GPU until the host has submitted its work, at most so long.
LONGEST_LEAD = 0.02
# Where PyTorch does not report the size of L2, more than any GPU has.
LARGEST_L2 = 256 << 20
# Above the highest clock of a multiprocessor: `_sleep` counts cycles.
CYCLES_A_SECOND = 2.5e9


class Eager(torch_reference.Precision):
    """Tensors on a GPU, and PyTorch without any observer of its operations."""

    def __init__(self, device):
        self.name = "written"
        self.target = None
        self.device = device
        torch.set_default_dtype(torch.float32)

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(torch.no_grad())
        # Tensors that the function creates without a device.
        self.stack.enter_context(self.device)

    def __exit__(self, kind, error, traceback):
        self.stack.__exit__(kind, error, traceback)

    def array(self, tensor, blob):
        array = torch.frombuffer(bytearray(blob), dtype=element_type(tensor["dtype"]))
        return array.reshape(tensor["shape"]).to(self.device)

    def empty(self, output):
        dtype = element_type(output["dtype"])
        value = float("nan") if dtype.is_floating_point else 0
        return torch.full(output["shape"], value).to(self.device, dtype)

    def bytes_of(self, dtype, value):
        stored = value.detach().to(element_type(dtype)).contiguous().cpu()
        return stored.reshape(-1).view(torch.uint8).numpy().tobytes()


def element_type(dtype):
    """The type whose elements have the bytes of the project's dtype."""
    narrow = torch_reference.NARROW.get(dtype)
    return torch_reference.stored_type(dtype) if narrow is None else getattr(torch, narrow)


def serve(request, blobs):
    text, sampling = request["source"], request["sampling"]
    device = torch.device("cuda", request["device"])
    torch.cuda.set_device(device)
    precision = Eager(device)
    tree = reference.sized(text, None, request["values"])
    module = worker.load("lightbench_user_module", text, request["file"], tree)
    inputs = zip(request["inputs"], blobs)
    arrays = {tensor["name"]: precision.array(tensor, blob) for tensor, blob in inputs}
    with precision:
        function, passed = reference.call_of(module, request, arrays, precision)
        returned = function(**passed)
        outputs = reference.read(returned, request, passed, arrays, precision)
        replied = [precision.bytes_of(each["dtype"], outputs[each["name"]]) for each in request["outputs"]]
        samples = {"cold": [], "warm": []}
        if sampling is not None:
            samples["cold"] = sampled(lambda: function(**passed), flush(device), sampling)
            samples["warm"] = sampled(lambda: function(**passed), lambda: None, sampling)
    return {"version": torch.__version__, **samples}, replied


def flush(device):
    """A function after which L2 holds a clean buffer."""
    properties = torch.cuda.get_device_properties(device)
    size = getattr(properties, "L2_cache_size", LARGEST_L2)
    dirty = torch.zeros(size, dtype=torch.uint8, device=device)
    clean = torch.zeros(2 * size // 4, dtype=torch.float32, device=device)

    def flushed():
        dirty.fill_(1)
        clean.sum()

    return flushed


def sampled(call, prepare, limits):
    """The seconds of each sample between two events around the call, round by round.

    The GPU waits before the first event until the host has submitted the call, so that its time is no part of the sample.
    """
    lead = submission_time(call)
    rounds = []
    deadline = time.monotonic() + limits["seconds"]
    for _ in range(limits["rounds"]):
        events = []
        for _ in range(limits["per_round"]):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            prepare()
            torch.cuda._sleep(int(lead * CYCLES_A_SECOND))
            begin.record()
            call()
            end.record()
            events.append((begin, end))
        torch.cuda.synchronize()
        rounds.append([begin.elapsed_time(end) * 1e-3 for begin, end in events])
        if time.monotonic() > deadline:
            break
    return rounds


def submission_time(call):
    """The time in which the host submits a call: twice the longest of five, after calls that load and choose kernels."""
    for _ in range(3):
        call()
    longest = 0.0
    for _ in range(5):
        torch.cuda.synchronize()
        started = time.monotonic()
        call()
        longest = max(longest, time.monotonic() - started)
    torch.cuda.synchronize()
    return min(2 * longest, LONGEST_LEAD)
