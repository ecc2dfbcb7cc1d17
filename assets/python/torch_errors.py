"""PyTorch for references: computation in one precision, and rounding errors carried along with the values.

`Precision` replaces the float types that a reference requests (`.float()`, `.to(torch.float32)`, `dtype=torch.bfloat16`).
`RunningErrors` sees every operation below PyTorch's composite functions and computes the errors of its results by the rules
of `running_error`. Both work with PyTorch 1.13 and newer.
"""

import sys

import torch
from torch._decomp import decomposition_table
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import __main__ as worker

rules = worker.module("running_error")

# Types that `Precision` replaces. Types of 8 bits and fewer round in every precision.
REPLACED = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
NARROW = {torch.float16: "f16", torch.bfloat16: "bf16"}
CONVERSIONS = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
}


class Precision(TorchFunctionMode):
    """Computes in `target` whatever float type the code requests, and notes conversions to f16 and bf16.

    Without a target, the code runs as it is written. `file` is the name of the code in tracebacks.
    """

    def __init__(self, target, file):
        super().__init__()
        self.target = target
        self.file = file
        # For each line that converts, the names of the types.
        self.roundings = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        operand = args[0] if args and isinstance(args[0], torch.Tensor) else None
        wanted = self.wanted(name, operand, args, kwargs)
        is_rounding = wanted in NARROW and operand is not None and operand.is_floating_point()
        if is_rounding and operand.dtype != wanted:
            self.note(NARROW[wanted])
        if self.target is None:
            return func(*args, **kwargs)
        if name in CONVERSIONS and operand is not None:
            func, args, kwargs = torch.Tensor.to, (operand, wanted), {}
        args = tuple(self.replaced(each) for each in args)
        kwargs = {key: self.replaced(each) for key, each in kwargs.items()}
        return func(*args, **kwargs)

    def wanted(self, name, operand, args, kwargs):
        """The float type that a call requests."""
        if name in CONVERSIONS and operand is not None:
            return CONVERSIONS[name]
        requested = (each for each in (*args, *kwargs.values()) if isinstance(each, torch.dtype))
        return next((each for each in requested if each in REPLACED), None)

    def replaced(self, argument):
        is_type = isinstance(argument, torch.dtype) and argument in REPLACED
        return self.target if is_type else argument

    def note(self, name):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        if frame is not None:
            self.roundings.setdefault(frame.f_lineno, set()).add(name)


def words(text):
    return frozenset(text.split())


# Operations whose results are elements of their operands, or views of them.
MOVEMENT = words(
    "_reshape_alias _unsafe_view alias as_strided block_diag broadcast_to cat clone constant_pad_nd contiguous copy "
    "detach diag diag_embed diagonal embedding expand expand_as flatten flip gather im2col index index_copy index_select "
    "lift lift_fresh lift_fresh_copy masked_fill masked_scatter masked_select movedim narrow permute pixel_shuffle "
    "pixel_unshuffle put reflection_pad1d reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d "
    "replication_pad2d replication_pad3d reshape roll rot90 scatter select select_scatter slice slice_scatter split "
    "split_with_sizes squeeze stack swapaxes t take take_along_dim transpose tril triu unbind unflatten unfold unsqueeze "
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d view view_as where _to_copy"
)

# Sums over one operand. Scattering is a sum where several elements have the same place.
TOTALS = words(
    "sum mean nansum cumsum avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d col2im trace "
    "upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d"
)
ACCUMULATIONS = words("scatter_add index_add scatter_reduce index_put index_reduce")

# Sums of products.
PRODUCTS = words(
    "mm bmm mv dot vdot addmm addmv addbmm baddbmm addr linear convolution _convolution conv_transpose2d "
    "mkldnn_convolution _trilinear"
)

# Results that are elements of one operand, chosen by value: with their indices, or without.
CHOSEN_WITH_INDICES = words(
    "max min sort topk kthvalue median nanmedian mode cummax cummin max_pool2d_with_indices max_pool3d_with_indices"
)
CHOSEN = words("amax amin max min max_pool1d max_pool2d max_pool3d")

ELEMENTWISE = words(
    "abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh ceil celu clamp clamp_max clamp_min copysign cos cosh "
    "deg2rad digamma div elu erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac gelu glu hardshrink "
    "hardsigmoid hardswish hardtanh heaviside hypot i0 leaky_relu lerp lgamma log log10 log1p log2 log_sigmoid_forward "
    "logaddexp logaddexp2 logit maximum minimum mish mul nan_to_num neg polygamma positive pow prelu rad2deg reciprocal "
    "relu relu6 remainder round rsqrt rsub selu sgn sigmoid sign silu sin sinc sinh softplus softshrink sqrt square sub "
    "tan tanh threshold trunc xlogy"
)

# Operations that give a tensor another shape, and write no value. PyTorch 1.13 uses `squeeze_` for a product with a vector.
RESHAPES = words("squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_")

# Operations that write values without errors.
EXACT_WRITES = words("zero_ fill_ uniform_ normal_ random_ bernoulli_ exponential_ log_normal_ cauchy_ geometric_")


class RunningErrors(TorchDispatchMode):
    """Computes the errors of every result; a tensor without the attribute `lightbench_errors` is exact."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.split("::")[-1]
        written = [each for each in func._schema.arguments if each.alias_info and each.alias_info.is_write]
        if not written:
            return self.computed(func, name, args, kwargs)
        target = args[0] if args else None
        if name in RESHAPES:
            errors = errors_of(target)
            result = func(*args, **kwargs)
            if errors is not None:
                target.lightbench_errors = getattr(torch.ops.aten, name[:-1])(errors, *args[1:], **kwargs)
            return result
        if name in EXACT_WRITES or not is_float(target):
            result = func(*args, **kwargs)
            if errors_of(target) is not None:
                errors_of(target).zero_()
            return result
        if name == "copy_":
            result = func(*args, **kwargs)
            write_errors(target, errors_of(args[1]))
            return result
        functional = getattr(torch.ops.aten, name[:-1], None) if name.endswith("_") else None
        overload = func._schema.overload_name or "default"
        if functional is None or len(written) > 1 or overload not in functional.overloads():
            raise NotImplementedError(
                f"the rounding errors of `{name}` ({overload}) are unknown; write the reference with operations that "
                "return new tensors"
            )
        value = self.computed(getattr(functional, overload), name[:-1], args, kwargs)
        target.copy_(value)
        write_errors(target, errors_of(value))
        return target

    def computed(self, func, name, args, kwargs):
        """The results of an operation without side effects, with their errors."""
        operation = Operation(func, name, args, kwargs)
        if not operation.operands:
            return func(*args, **kwargs)
        rule = operation.rule()
        if rule is None:
            composed = COMPOSED.get(name) or decomposition_table.get(func)
            if composed is not None:
                with self:
                    return composed(*args, **kwargs)
            rule = Operation.sampled
        value = func(*args, **kwargs)
        attach(value, rule(operation, value))
        return value


class Operation:
    """A call with its float operands in a list, so that it can be repeated for others."""

    def __init__(self, func, name, args, kwargs):
        self.func, self.name, self.args, self.kwargs = func, name, args, kwargs
        self.operands = []
        self.collect((args, kwargs))
        self.errors = {
            position: errors_of(operand)
            for position, operand in enumerate(self.operands)
            if errors_of(operand) is not None and bool(errors_of(operand).any())
        }

    def collect(self, argument):
        if is_float(argument):
            self.operands.append(argument)
        elif isinstance(argument, (list, tuple)):
            for each in argument:
                self.collect(each)
        elif isinstance(argument, dict):
            for each in argument.values():
                self.collect(each)

    def apply(self, operands, constants=None):
        """Calls the operation for other operands, and, if `constants` is given, with it for every other real number."""
        remaining = iter(operands)

        def replaced(argument):
            if is_float(argument):
                return next(remaining)
            if constants is not None and isinstance(argument, float):
                return constants(argument)
            if isinstance(argument, (list, tuple)):
                return type(argument)(replaced(each) for each in argument)
            if isinstance(argument, dict):
                return {key: replaced(each) for key, each in argument.items()}
            return argument

        # Arguments first, then keywords, as they were collected.
        args = replaced(self.args)
        return self.func(*args, **replaced(self.kwargs))

    def rule(self):
        """The method that computes the errors of the value; none for a sequence of other operations."""
        if self.name in MOVEMENT:
            return Operation.movement
        if self.name in ELEMENTWISE or is_elementwise(self.func):
            return Operation.elementwise
        if self.name in PRODUCTS:
            return Operation.product
        if self.name in TOTALS:
            return Operation.total
        if self.name in ACCUMULATIONS:
            return Operation.accumulation
        if self.name in CHOSEN_WITH_INDICES and len(self.func._schema.returns) == 2:
            return Operation.chosen_with_indices
        if self.name in CHOSEN and len(self.operands) == 1:
            return Operation.chosen
        return None

    def elementwise(self, value):
        return rules.elementwise(torch, self.apply, self.operands, self.errors, value) if is_float(value) else None

    def movement(self, value):
        first = value if isinstance(value, torch.Tensor) else value[0]
        if not is_float(first):
            return None
        if first.dtype != self.operands[0].dtype:
            widened = lambda operands: self.apply(operands).to(torch.float64)
            return rules.conversion(torch, widened, self.operands, self.errors, value.to(torch.float64))
        # A view of the errors, so that what is written through a view of the values reaches them.
        errors = [written_errors(each) for each in self.operands]
        return self.apply(errors, constants=lambda _: 0.0)

    def product(self, value):
        magnitude = lambda operands: self.apply(operands, constants=abs)
        return rules.product(torch, magnitude, self.operands, self.errors)

    def total(self, value):
        apply = lambda operand: self.apply([operand])
        return rules.total(torch, apply, self.operands[0], self.errors.get(0))

    def accumulation(self, value):
        magnitudes = self.apply([each.abs() for each in self.operands])
        zeros = [torch.zeros_like(each) for each in self.operands]
        squares = self.apply([self.errors.get(each, zeros[each]) ** 2 for each in range(len(zeros))])
        return rules.combined(torch, magnitudes, torch.sqrt(squares))

    def chosen_with_indices(self, value):
        values, indices = value
        errors = errors_of(self.operands[0])
        if errors is None:
            return None
        if self.argument("kernel_size") is not None:
            # The indices of a pool count the elements of a plane.
            plane = values.dim() - len(self.argument("kernel_size"))
            picked = errors.flatten(plane).gather(plane, indices.flatten(plane)).reshape(values.shape)
        elif values.dim() == errors.dim():
            picked = errors.gather(self.argument("dim"), indices)
        else:
            dim = self.argument("dim")
            picked = errors.gather(dim, indices.unsqueeze(dim)).squeeze(dim)
        return picked, None

    def chosen(self, value):
        if not self.errors:
            return None
        operand, errors = self.operands[0], self.errors[0]
        if self.name not in ("amax", "amin"):
            # The whole tensor, or a pool, whose windows overlap.
            is_pool = "pool" in self.name
            largest = self.func if is_pool else torch.ops.aten.max.default
            errors = errors if is_pool else torch.where(operand == value, errors, torch.zeros_like(errors))
            return largest(errors, *self.args[1:], **self.kwargs)
        dims = self.argument("dim") or list(range(operand.dim()))
        kept = self.func(operand, dims, True)
        choose = lambda errors: torch.amax(errors, dims, bool(self.argument("keepdim")))
        return rules.chosen(torch, choose, operand, errors, kept)

    def argument(self, name):
        for position, declared in enumerate(self.func._schema.arguments):
            if declared.name == name:
                passed = self.args[position] if position < len(self.args) else declared.default_value
                return self.kwargs.get(name, passed)
        return None

    def sampled(self, value):
        if not is_float(value):
            return None

        def signs(operand):
            generator = torch.Generator().manual_seed(operand.numel())
            drawn = torch.randint(0, 2, operand.shape, generator=generator)
            return drawn.to(operand.dtype) * 2 - 1

        return rules.sampled(torch, self.apply, self.operands, self.errors, value, signs)


def is_float(value):
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def is_elementwise(func):
    pointwise = getattr(torch.Tag, "pointwise", None)
    return pointwise is not None and pointwise in func.tags


def errors_of(tensor):
    return getattr(tensor, "lightbench_errors", None)


def written_errors(tensor):
    """The errors of a tensor, which exist from now on: zeros where it was exact."""
    if errors_of(tensor) is None:
        tensor.lightbench_errors = torch.zeros_like(tensor, dtype=torch.float64)
    return errors_of(tensor)


def write_errors(target, errors):
    """Writes errors to those of a tensor, and so to those of the tensor that it is a view of."""
    written_errors(target).copy_(torch.zeros_like(target) if errors is None else errors)


def attach(value, errors):
    if errors is None:
        return
    if isinstance(value, torch.Tensor):
        if is_float(value):
            value.lightbench_errors = errors
        return
    for each, error in zip(value, errors):
        attach(each, error)


def softmax(x, dim, _half_to_float=False):
    exponentials = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return exponentials / torch.sum(exponentials, dim, keepdim=True)


def log_softmax(x, dim, _half_to_float=False):
    shifted = x - torch.amax(x, dim, keepdim=True)
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim, keepdim=True))


def variance(x, dim=None, unbiased=True, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    dims = list(range(x.dim())) if dim is None or dim == [] else dim
    dims = [dims] if isinstance(dims, int) else dims
    count = 1
    for each in dims:
        count *= x.shape[each]
    correction = (1 if unbiased else 0) if correction is None else correction
    difference = x - torch.mean(x, dims, keepdim=True)
    return torch.sum(difference * difference, dims, keepdim=keepdim) / (count - correction)


def deviation(*args, **kwargs):
    return torch.sqrt(variance(*args, **kwargs))


def norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    dims = list(range(x.dim())) if dim is None or dim == [] else dim
    order = 2 if ord is None else ord
    if order == 2:
        return torch.sqrt(torch.sum(x * x, dims, keepdim=keepdim))
    if order == float("inf"):
        return torch.amax(torch.abs(x), dims, keepdim=keepdim)
    return torch.pow(torch.sum(torch.pow(torch.abs(x), order), dims, keepdim=keepdim), 1 / order)


def product_of_elements(x, dim=None, keepdim=False, dtype=None):
    factors = x.reshape(-1).unbind(0) if dim is None else x.unbind(dim)
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result.unsqueeze(dim) if keepdim and dim is not None else result


def layer_norm(x, normalized_shape, weight, bias, eps):
    dims = list(range(x.dim() - len(normalized_shape), x.dim()))
    mean = torch.mean(x, dims, keepdim=True)
    scale = torch.rsqrt(variance(x, dims, False, True) + eps)
    y = (x - mean) * scale
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias), mean, scale


def group_norm(x, weight, bias, n, c, hxw, group, eps):
    groups = x.reshape(n, group, -1)
    mean = torch.mean(groups, [2], keepdim=True)
    scale = torch.rsqrt(variance(groups, [2], False, True) + eps)
    y = ((groups - mean) * scale).reshape(x.shape)
    channels = [1, c] + [1] * (x.dim() - 2)
    y = y if weight is None else y * weight.reshape(channels)
    return (y if bias is None else y + bias.reshape(channels)), mean.reshape(n, group), scale.reshape(n, group)


def batch_norm(x, weight, bias, running_mean, running_var, training, _momentum, eps):
    channels = [1, x.shape[1]] + [1] * (x.dim() - 2)
    dims = [each for each in range(x.dim()) if each != 1]
    mean = torch.mean(x, dims) if training else running_mean
    scale = torch.rsqrt((variance(x, dims, False) if training else running_var) + eps)
    y = (x - mean.reshape(channels)) * scale.reshape(channels)
    y = y if weight is None else y * weight.reshape(channels)
    return (y if bias is None else y + bias.reshape(channels)), mean, scale


# Operations as sequences of others. PyTorch's own decompositions, which serve the rest, differ between versions.
COMPOSED = {
    "_softmax": softmax,
    "_log_softmax": log_softmax,
    "var": variance,
    "std": deviation,
    "norm": norm,
    "linalg_vector_norm": norm,
    "prod": product_of_elements,
    "native_layer_norm": layer_norm,
    "native_group_norm": group_norm,
    "native_batch_norm": batch_norm,
    "_native_batch_norm_legit_no_training": lambda x, w, b, mean, var, momentum, eps: batch_norm(
        x, w, b, mean, var, False, momentum, eps
    ),
}
