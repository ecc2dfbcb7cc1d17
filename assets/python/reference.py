"""The service `reference`: computes the expected outputs of a project with its `reference.py`.

Request:

    file, source    the name for tracebacks, and the text
    precision       "exact": f64, with errors; "single": f32; "written": the types that the text requests
    values          axes and scalars by name
    inputs          for each input and updated tensor: name, dtype, shape; the blobs have their elements in order
    outputs         for each output and updated tensor: name, dtype, shape, and whether it has a magnitude

The reply has `roundings`: the lines that convert to f16 or bf16, each with the types. Its blobs are, for each output, the
elements (f64 for floats) and, in the precision "exact", the magnitudes (f64) of those that have them.
"""

import ast
import inspect

import __main__ as worker

# The names of the function, in order of preference, and of the class.
FUNCTIONS = ("reference", "run")
CLASS = "Model"


class Mismatch(Exception):
    """The reference does not fit its project."""


def serve(request, blobs):
    text = request["source"]
    if imports(text, "torch"):
        library = worker.module("torch_reference")
    else:
        library = worker.module("numpy_reference")
    precision = library.Precision(request["precision"], request["file"])
    tree = sized(text, precision.rewritten(text), request["values"])
    module = worker.load("lightbench_user_module", text, request["file"], tree)
    inputs = {each["name"]: (each, blob) for each, blob in zip(request["inputs"], blobs)}

    def compute(changed=lambda name, array: array):
        """The outputs for inputs that `changed` may replace; each call has new arrays, which the function may write."""
        arrays = {name: changed(name, precision.array(tensor, blob)) for name, (tensor, blob) in inputs.items()}
        return outputs_of(module, request, arrays, precision)

    values = compute()
    magnitudes = precision.magnitudes(inputs, compute, values) if request["precision"] == "exact" else {}
    replied = []
    for output in request["outputs"]:
        replied.append(precision.bytes_of(output["dtype"], values[output["name"]]))
        if output["magnitude"] and magnitudes:
            replied.append(precision.bytes_of("f64", magnitudes[output["name"]]))
    roundings = [[line, sorted(names)] for line, names in sorted(precision.roundings.items())]
    return {"roundings": roundings}, replied


def sized(text, tree, values):
    """The syntax tree in which module-level names of a file with a class `Model` have the values of the axes and scalars of
    the same names, whatever the file assigns to them: the model is constructed for the sizes of a workload."""
    tree = tree or ast.parse(text)
    definitions = {getattr(statement, "name", None) for statement in tree.body}
    if CLASS not in definitions or definitions.intersection(FUNCTIONS):
        return tree
    body = []
    for statement in tree.body:
        body.append(statement)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in [each for target in targets for each in getattr(target, "elts", [target])]:
            if isinstance(target, ast.Name) and target.id in values:
                replaced = ast.Assign([ast.Name(target.id, ast.Store())], ast.Constant(values[target.id]))
                body.append(ast.copy_location(replaced, statement))
    tree.body = body
    return ast.fix_missing_locations(tree)


def imports(text, package):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import) and any(each.name.split(".")[0] == package for each in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            return True
    return False


def outputs_of(module, request, arrays, precision):
    """The outputs by name. Tensors that the function updates are passed to it, and read back where it does not return them."""
    with precision:
        function, passed = call_of(module, request, arrays, precision)
        returned = function(**passed)
    return read(returned, request, passed, arrays, precision)


def call_of(module, request, arrays, precision):
    """The function that computes, and its arguments by name."""
    values = dict(request["values"])
    for output in request["outputs"]:
        if output["name"] not in arrays:
            values[output["name"]] = precision.empty(output)
    values.update(arrays)
    function, used = entry_of(module, precision, values)
    return function, arguments_of(function, values, used)


def read(returned, request, passed, arrays, precision):
    """The outputs by name, as returned or as left in the arguments."""
    outputs = {each["name"]: each for each in request["outputs"]}
    found = named(returned, outputs, passed, arrays)
    for name, output in outputs.items():
        found[name] = precision.checked(name, output, found[name])
        shape = list(found[name].shape)
        if shape != output["shape"]:
            raise Mismatch(f"the output `{name}` has the shape {shape}; expected {output['shape']}")
    return found


def entry_of(module, precision, values):
    """The function that computes, and the names of the tensors that its weights take."""
    for name in FUNCTIONS:
        if callable(getattr(module, name, None)):
            return getattr(module, name), ()
    model = getattr(module, CLASS, None)
    if model is not None:
        arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        return precision.model(model(*arguments), values)
    expected = " or ".join(f"`{name}`" for name in FUNCTIONS)
    raise Mismatch(f"the file has no function {expected} and no class `{CLASS}`")


def arguments_of(function, values, used):
    passed = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in values and name not in used:
            passed[name] = values[name]
        elif parameter.default is parameter.empty:
            known = ", ".join(name for name in values if name not in used)
            raise Mismatch(
                f"the parameter `{name}` names no tensor, scalar or axis of the project, which has {known}"
            )
    return passed


def named(returned, outputs, passed, arrays):
    """The outputs by name: those that were returned, and those that were written in place."""
    names = list(outputs)
    if isinstance(returned, dict):
        unknown = [str(name) for name in returned if name not in outputs]
        if unknown:
            raise Mismatch(f"it returns `{unknown[0]}`, which is no output; outputs: {', '.join(names)}")
        found = dict(returned)
    else:
        if returned is None:
            returned = ()
        elif not isinstance(returned, (tuple, list)):
            returned = (returned,)
        created = [name for name in names if name not in arrays]
        if len(returned) == len(created) and len(created) < len(names) and len(created) > 0:
            names = created
        if len(returned) > len(names):
            raise Mismatch(
                f"it returns {len(returned)} values; the project has {len(names)} outputs: {', '.join(names)}"
            )
        found = dict(zip(names, returned))
    for name in outputs:
        if name not in found:
            if name not in passed:
                raise Mismatch(f"it neither returns the output `{name}` nor takes it as a parameter")
            found[name] = passed[name]
    return found
