"""@ lightbench(
    title: "One row per program, in registers",
    params: {"WARPS": [4, 8]},
    steps: [
        triton(kernel: "softmax", args: ["y", "x", "rows: i32", "cols: i32"], grid: ["rows"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)"}, num_warps: "WARPS"),
    ],
) @"""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(y, x, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    value = tl.load(x + row * cols + at, mask=mask, other=-float("inf"))
    terms = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * cols + at, terms / tl.sum(terms, axis=0), mask=mask)


def run(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](y, x, *x.shape, triton.next_power_of_2(x.shape[1]))
    return y
