"""NumPy for the service `reference`: arrays from bytes, the precision of the computation, and magnitudes.

NumPy has no bf16 and no types of 8 bits: their elements arrive as f32 and f64. Where the text names a float type of NumPy
(`np.float32`, `"float16"`), the syntax tree gets that of the computation.
"""

import ast

import numpy

import __main__ as worker

rules = worker.module("running_error")

TYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u64": "uint64",
    "u32": "uint32",
    "u16": "uint16",
    "u8": "uint8",
    "bool": "bool",
}
WIDENED = ("bf16", "f8e4m3", "f8e5m2")
TARGETS = {"exact": "float64", "single": "float32", "written": None}
# The names of NumPy's float types.
FLOATS = {"float64": None, "double": None, "float32": None, "single": None, "float16": "f16", "half": "f16"}


class Precision:
    def __init__(self, name, file):
        self.name = name
        self.target = TARGETS[name]
        self.roundings = {}

    def rewritten(self, text):
        tree = ast.parse(text)
        for node in ast.walk(tree):
            # Only names of types: an attribute, or a text in a call.
            if isinstance(node, ast.Attribute) and node.attr in FLOATS:
                node.attr = self.replaced(node.attr, node.lineno)
            elif isinstance(node, ast.Call):
                for each in [*node.args, *(keyword.value for keyword in node.keywords)]:
                    if isinstance(each, ast.Constant) and each.value in FLOATS:
                        each.value = self.replaced(each.value, each.lineno)
        return ast.fix_missing_locations(tree)

    def replaced(self, name, line):
        if FLOATS[name] is not None:
            self.roundings.setdefault(line, set()).add(FLOATS[name])
        return self.target or name

    def __enter__(self):
        self.state = numpy.errstate(all="ignore")
        self.state.__enter__()

    def __exit__(self, *raised):
        return self.state.__exit__(*raised)

    def array(self, tensor, blob):
        dtype = tensor["dtype"]
        stored = "float32" if dtype in WIDENED else TYPES.get(dtype, "uint8")
        array = numpy.frombuffer(bytearray(blob), dtype=stored).reshape(tensor["shape"])
        is_replaced = array.dtype.kind == "f" and self.target is not None
        return array.astype(self.target) if is_replaced else array

    def empty(self, output):
        if is_float(output["dtype"]):
            return numpy.full(output["shape"], numpy.nan, dtype=self.target or "float32")
        return numpy.zeros(output["shape"], dtype=TYPES.get(output["dtype"], "uint8"))

    def model(self, model, values):
        raise ValueError("a class `Model` needs PyTorch, which the file does not import")

    def checked(self, name, output, value):
        if not isinstance(value, (numpy.ndarray, numpy.generic, int, float)):
            raise ValueError(f"the output `{name}` is a {type(value).__name__}; expected an array")
        value = numpy.asarray(value)
        if self.name == "exact" and is_float(output["dtype"]) and value.dtype != numpy.float64:
            raise ValueError(
                f"the output `{name}` is {value.dtype} although the inputs are float64: an operation "
                "narrows it; remove the conversion, or compute with float64"
            )
        return value

    def magnitudes(self, inputs, compute, values):
        """The largest change of each output under random relative changes of the inputs by one unit roundoff."""
        floats = [name for name, (tensor, _) in inputs.items() if is_float(tensor["dtype"])]
        found = {name: numpy.abs(value).astype("float64") for name, value in values.items()}
        largest = {name: numpy.zeros_like(value) for name, value in found.items()}
        random = numpy.random.RandomState(len(floats))

        def changed(name, array):
            if name not in floats:
                return array
            signs = random.randint(0, 2, array.shape) * 2.0 - 1.0
            return array * (1.0 + signs * rules.UNIT)

        for _ in range(rules.DRAWS):
            for name, value in compute(changed).items():
                shifted = rules.change(numpy, value, values[name])
                largest[name] = numpy.maximum(largest[name], shifted)
        return {name: found[name] + largest[name] for name in found}

    def bytes_of(self, dtype, value):
        stored = "float64" if is_float(dtype) else TYPES.get(dtype, "uint8")
        return numpy.ascontiguousarray(value, dtype=stored).tobytes()


def is_float(dtype):
    return dtype in WIDENED or dtype in ("f64", "f32", "f16")
