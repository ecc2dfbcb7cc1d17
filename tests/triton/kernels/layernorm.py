"""@ lightbench(
    title: "One row per program, two passes over registers",
    steps: [
        triton(kernel: "layer_norm", args: ["x", "gamma", "beta", "y", "cols: i32", "eps"], grid: ["rows"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)"}, num_warps: 8),
    ],
) @"""
import triton
import triton.language as tl


@triton.jit
def mean_of(values, count):
    return tl.sum(values, axis=0) / count


@triton.jit
def layer_norm(x, gamma, beta, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    value = tl.load(x + row * cols + at, mask=mask, other=0.0)
    centred = tl.where(mask, value - mean_of(value, cols), 0.0)
    scale = 1 / tl.sqrt(mean_of(centred * centred, cols) + eps)
    weight = tl.load(gamma + at, mask=mask)
    shift = tl.load(beta + at, mask=mask)
    tl.store(y + row * cols + at, centred * scale * weight + shift, mask=mask)
