"""@ lightbench(
    title: "Begin here: whole blocks only",
    steps: [
        triton(kernel: "add_bias", args: ["x", "bias", "y", "cols: i32"], grid: ["rows", "ceil_div(cols, 1024)"],
               constexprs: {"BLOCK": "1024"}, num_warps: 4),
    ],
) @"""
import triton
import triton.language as tl


@triton.jit
def add_bias(x, bias, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col) + tl.load(bias + col)
    tl.store(y + row * cols + col, value)
