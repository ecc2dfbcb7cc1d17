"""@ lightbench(
    title: "Masks the loads only",
    expect: fault(data_race),
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
    # The mistake: the store has no mask.
    # How it shows: the last block of a row overwrites the next row, which another program writes; the virtual GPU reports the race.
    inside = col < cols
    value = tl.load(x + row * cols + col, mask=inside) + tl.load(bias + col, mask=inside)
    tl.store(y + row * cols + col, value)
