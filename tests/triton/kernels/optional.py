"""@ lightbench(
    title: "A bias that may be missing",
    steps: [
        triton(kernel: "add", args: ["a", "b", "null", "c", "n: i32"], grid: ["ceil_div(n, 512)"],
               constexprs: {"BLOCK": 512}),
    ],
) @"""
import triton
import triton.language as tl


@triton.jit
def add(a, b, bias, c, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    total = tl.load(a + at, mask=mask) + tl.load(b + at, mask=mask)
    if bias is not None:
        total += tl.load(bias + at, mask=mask)
    tl.store(c + at, total, mask=mask)
