"""PyTorch for the service `reference`: tensors from bytes, the precision of the computation, and magnitudes."""

import contextlib

import torch

import __main__ as worker

errors = worker.module("torch_errors")

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
# Packed elements of 4 bits travel as bytes.
PACKED = ("i4", "u4", "e2m1")
# Types whose elements travel as f32. PyTorch 1.13 lacks those of 8 bits, which then stay f32.
NARROW = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
TARGETS = {"exact": torch.float64, "single": torch.float32, "written": None}


class Precision:
    def __init__(self, name, file):
        self.name = name
        self.target = TARGETS[name]
        self.mode = errors.Precision(self.target, file)
        self.roundings = self.mode.roundings
        torch.set_default_dtype(self.target or torch.float32)

    def rewritten(self, text):
        """The types are replaced while the text runs."""
        return None

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(torch.no_grad())
        if self.name == "exact":
            self.stack.enter_context(errors.RunningErrors())
        self.stack.enter_context(self.mode)

    def __exit__(self, kind, error, traceback):
        self.stack.__exit__(kind, error, traceback)
        # PyTorch has no type of its own for this error.
        if kind is RuntimeError and "can't allocate memory" in str(error):
            raise MemoryError("PyTorch could not allocate the memory of a tensor") from error

    def array(self, tensor, blob):
        dtype = tensor["dtype"]
        narrow = getattr(torch, NARROW.get(dtype, ""), None)
        stored = torch.float32 if dtype in NARROW else stored_type(dtype)
        # `bytearray`: a tensor of read-only memory warns.
        array = torch.frombuffer(bytearray(blob), dtype=stored).reshape(tensor["shape"])
        array = array if narrow is None else array.to(narrow)
        is_replaced = array.dtype in errors.REPLACED and self.target is not None
        return array.to(self.target) if is_replaced else array

    def empty(self, output):
        dtype = torch.float32 if output["dtype"] in NARROW else stored_type(output["dtype"])
        if dtype.is_floating_point:
            return torch.full(output["shape"], float("nan"), dtype=self.target or dtype)
        return torch.zeros(output["shape"], dtype=dtype)

    def model(self, model, values):
        """A module whose weights are inputs of the project, named by their path with `_` for `.`.

        A buffer that is no input keeps the value of its construction.
        """
        used = []
        parameters = dict(model.named_parameters())
        for path, weight in list(parameters.items()) + list(model.named_buffers()):
            name = path.replace(".", "_")
            if not weight.dtype.is_floating_point:
                continue
            if name not in values and path not in parameters:
                continue
            if name not in values:
                raise ValueError(f"the weight `{path}` is no input of the project; expected a tensor `{name}`")
            if tuple(values[name].shape) != tuple(weight.shape):
                shapes = f"{list(values[name].shape)} instead of {list(weight.shape)}"
                raise ValueError(f"the tensor `{name}` has the shape {shapes}")
            owner = model
            *parents, last = path.split(".")
            for parent in parents:
                owner = getattr(owner, parent)
            holder = torch.nn.Parameter if path in parameters else (lambda each: each)
            setattr(owner, last, holder(values[name]))
            used.append(name)
        return model.forward, used

    def checked(self, name, output, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError(f"the output `{name}` is a {type(value).__name__}; expected a tensor")
        return value

    def magnitudes(self, inputs, compute, values):
        found = {}
        for name, value in values.items():
            own = errors.errors_of(value)
            # An output that is an input, unchanged.
            found[name] = value.abs() if own is None else torch.maximum(own, value.abs().to(own.dtype))
        return found

    def bytes_of(self, dtype, value):
        stored = torch.float64 if dtype in NARROW else stored_type(dtype)
        stored = torch.float64 if stored.is_floating_point else stored
        return value.detach().to(stored).contiguous().numpy().tobytes()


def stored_type(dtype):
    name = "u8" if dtype in PACKED else dtype
    # Newer versions have more unsigned types.
    found = TYPES.get(name) or getattr(torch, name.replace("u", "uint"), None)
    if found is None:
        raise ValueError(f"PyTorch {torch.__version__} has no type for {dtype}; write the reference with NumPy")
    return found
