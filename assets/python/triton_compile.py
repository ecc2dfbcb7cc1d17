"""Compiles one Triton kernel to PTX, without a GPU and without an assembler.

The file of the kernel is not imported. Its syntax tree gives the functions with `@triton.jit`, the constants that they
use, and imports of Triton itself; nothing else of it runs.
"""

import ast
import linecache

MODULES = ("triton", "triton.language", "triton.language.extra", "triton.language.extra.cuda",
           "triton.language.extra.libdevice", "triton.tools", "triton.experimental")

DECORATORS = ("jit", "constexpr_function")

# Decorators that choose values or launch again; the launch block of the project does so here.
CHOOSERS = ("autotune", "heuristics")


class Rejected(Exception):
    """The kernel does not compile, for a reason in its text."""

    def __init__(self, message, line=0, column=0):
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def serve(request, blobs):
    try:
        return compile_kernel(request, blobs[0]), []
    except Rejected as reason:
        return {"rejected": {"message": reason.message, "line": reason.line, "column": reason.column}}, []


def compile_kernel(request, text):
    import triton
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler import ASTSource, make_backend
    from triton._C.libtriton import ir

    namespace = load(request["file"], text.decode("utf-8"), request["kernel"])
    function = namespace[request["kernel"]]
    signature, constants, attributes, kept = describe(function, request)
    source = ASTSource(function, signature, constexprs=constants, attrs=attributes)
    target = GPUTarget("cuda", request["capability"], 32)
    backend = make_backend(target)
    options = backend.parse_options(dict(request["options"], **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    metadata = {"target": target, **options.__dict__}
    stages = {}
    backend.add_stages(stages, options, Language.TRITON)
    try:
        implementation = backend.get_codegen_implementation(options)
        module = source.make_ir(target, options, implementation, backend.get_module_map(), context)
        for stage in ("ttir", "ttgir", "llir", "ptx"):
            module = stages[stage](module, metadata)
    except Exception as error:
        raise rejection(error, request["file"], namespace.values()) from error
    return {
        "ptx": module,
        "name": metadata["name"],
        "shared": metadata["shared"],
        "num_warps": metadata["num_warps"],
        "num_ctas": metadata["num_ctas"],
        "global_scratch": metadata.get("global_scratch_size") or 0,
        "profile_scratch": metadata.get("profile_scratch_size") or 0,
        "scratch_align": max(metadata.get(f"{kind}_scratch_align") or 1 for kind in ("global", "profile")),
        "cooperative": bool(metadata.get("launch_cooperative_grid")),
        "programmatic": bool(metadata.get("launch_pdl")),
        "tensor_memory": metadata.get("tmem_size") or 0,
        "kept": kept,
        "version": triton.__version__,
    }


def load(file, text, kernel):
    """The names that the parts of the file define that a Triton kernel may use; the kernel is among them."""
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        raise Rejected(error.msg, error.lineno or 0, error.offset or 0) from error
    triton_names = {}
    body = []
    for node in tree.body:
        kept = keep(node, triton_names)
        if kept is not None:
            body.append(kept)
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    if kernel not in functions:
        known = ", ".join(functions) or "none"
        raise Rejected(f"the file has no function `{kernel}` with `@triton.jit`; functions with it: {known}")
    # Triton reads the text of a function back by its file name.
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"__name__": "kernel", "__file__": file}
    try:
        exec(compile(ast.Module(body=body, type_ignores=[]), file, "exec"), namespace)
    except Exception as error:
        raise Rejected(f"{type(error).__name__}: {error}", line_in(error, file)) from error
    return namespace


def keep(node, triton_names):
    """The statement if a kernel may use it, without decorators that only choose parameters; else None."""
    if isinstance(node, ast.Import):
        names = [name for name in node.names if name.name in MODULES]
        for name in names:
            triton_names[name.asname or name.name.split(".")[0]] = name.name
        return ast.copy_location(ast.Import(names), node) if names else None
    if isinstance(node, ast.ImportFrom):
        if node.level or node.module not in MODULES:
            return None
        for name in node.names:
            triton_names[name.asname or name.name] = f"{node.module}.{name.name}"
        return node
    if isinstance(node, ast.FunctionDef):
        found = [decorator_name(decorator, triton_names) for decorator in node.decorator_list]
        if not any(name in DECORATORS for name in found):
            return None
        pairs = zip(found, node.decorator_list)
        node.decorator_list = [decorator for name, decorator in pairs if name not in CHOOSERS]
        return node
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node if node.value is not None and is_constant(node.value, triton_names) else None
    return None


def decorator_name(decorator, triton_names):
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    full = dotted(decorator, triton_names)
    return full.rsplit(".", 1)[-1] if full and full.split(".")[0] == "triton" else None


def dotted(node, triton_names):
    """The full name of an attribute of Triton, such as `triton.language.float16`; None for anything else."""
    if isinstance(node, ast.Name):
        return triton_names.get(node.id)
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, triton_names)
        return f"{base}.{node.attr}" if base else None
    return None


def is_constant(node, triton_names):
    """Whether an expression is made of literals, names, types of Triton and operators only: it calls nothing but
    `tl.constexpr`."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        full = dotted(node.func, triton_names)
        arguments = node.args + [keyword.value for keyword in node.keywords]
        is_constexpr = full is not None and full.endswith(".constexpr")
        return is_constexpr and all(is_constant(argument, triton_names) for argument in arguments)
    if isinstance(node, ast.Attribute):
        return dotted(node, triton_names) is not None
    if isinstance(node, ast.BinOp):
        # A power of large literals would take time and memory without end.
        return not isinstance(node.op, (ast.Pow, ast.LShift)) and is_constant(node.left, triton_names) \
            and is_constant(node.right, triton_names)
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand, triton_names)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_constant(element, triton_names) for element in node.elts)
    return False


def describe(function, request):
    """Signature, constants and attributes of a call as Triton's JIT would derive them, and which arguments remain."""
    arguments = list(request["arguments"])
    given = {name: constant(value) for name, value in request["constexprs"].items()}
    signature, constants, attributes, kept = {}, {}, {}, []
    taken = 0
    for parameter in function.params:
        name, path = parameter.name, (parameter.num,)
        if name in given:
            signature[name] = "constexpr"
            constants[path] = given.pop(name)
        elif parameter.is_constexpr:
            if not parameter.has_default:
                raise Rejected(f"the constant `{name}` has no value: add it to `constexprs`", line_of(function))
            signature[name] = "constexpr"
            constants[path] = parameter.default
        elif taken < len(arguments):
            argument = arguments[taken]
            assumes = argument["assumes"]
            specialised = not parameter.do_not_specialize
            if assumes == "null" or assumes == "one" and specialised:
                signature[name] = "constexpr"
                constants[path] = None if assumes == "null" else 1
            else:
                signature[name] = argument["type"]
                kept.append(taken)
                aligned = not parameter.do_not_specialize_on_alignment
                if assumes == "multiple_of_16" and specialised and aligned:
                    attributes[path] = [["tt.divisibility", 16]]
            taken += 1
        elif parameter.has_default:
            signature[name] = "constexpr"
            constants[path] = parameter.default
        else:
            expected = [each.name for each in function.params if not each.is_constexpr and each.name not in request["constexprs"]]
            raise Rejected(
                f"the launch gives {len(arguments)} arguments; `{function.__name__}` takes {len(expected)}: "
                f"{', '.join(expected)}", line_of(function))
    if taken < len(arguments):
        raise Rejected(
            f"the launch gives {len(arguments)} arguments; `{function.__name__}` takes {taken}", line_of(function))
    if given:
        raise Rejected(f"`{function.__name__}` has no parameter `{next(iter(given))}`", line_of(function))
    return signature, constants, attributes, kept


def constant(value):
    import triton.language as tl

    if isinstance(value, dict):
        found = getattr(tl, value["type"], None)
        if not isinstance(found, tl.dtype):
            raise Rejected(f"`tl.{value['type']}` is not a type of Triton")
        return found
    return value


def line_of(function):
    return getattr(function, "starting_line_number", 0) or 0


def rejection(error, file, functions):
    """The message of an error of the code generator, with the innermost line of the file."""
    message, line, column = str(error) or type(error).__name__, 0, 0
    cause = error
    # The outer errors are the calls that lead to the innermost one.
    while cause is not None:
        message = getattr(cause, "error_message", None) or getattr(cause, "msg", None) or message
        node = getattr(cause, "node", None)
        begin = first_line(getattr(cause, "src", None), functions)
        if node is not None and hasattr(node, "lineno") and begin:
            line, column = begin + node.lineno - 1, node.col_offset + 1
        cause = cause.__cause__
    return Rejected(message, line or line_in(error, file), column)


def first_line(source, functions):
    """The line of the `def` of the function with this text; the lines of its nodes count from there."""
    for function in functions:
        if source is not None and getattr(function, "src", None) == source:
            lines = function.raw_src
            before = next((at for at, text in enumerate(lines) if text.lstrip().startswith("def ")), 0)
            return function.starting_line_number + before
    return 0


def line_in(error, file):
    """The innermost line of the file in a traceback."""
    found = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
