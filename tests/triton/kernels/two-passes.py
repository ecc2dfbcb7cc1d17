"""@ lightbench(
    title: "Sums of each row first, then two launches of one function that scale its halves",
    scratch: [(name: "sums", dtype: f32, shape: ["rows"], init: undefined)],
    steps: [
        triton(kernel: "row_sums", args: ["sums", "x", "cols"], grid: ["rows"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)"}),
        triton(kernel: "scale", args: ["y", "x", "sums", "cols"], grid: ["rows"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)", "LEFT": true}, num_warps: 2),
        triton(kernel: "scale", args: ["y", "x", "sums", "cols"], grid: ["rows"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)", "LEFT": false}, num_warps: 2),
    ],
) @"""
import triton
import triton.language as tl


@triton.jit
def terms(x, row, cols, at):
    value = tl.load(x + row * cols + at, mask=at < cols, other=-float("inf"))
    return tl.exp(value - tl.max(value, axis=0))


@triton.jit
def row_sums(sums, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    tl.store(sums + row, tl.sum(terms(x, row, cols, tl.arange(0, BLOCK)), axis=0))


@triton.jit
def scale(y, x, sums, cols, BLOCK: tl.constexpr, LEFT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < cols // 2 if LEFT else (at >= cols // 2) & (at < cols)
    tl.store(y + row * cols + at, terms(x, row, cols, at) / tl.load(sums + row), mask=mask)
