"""@ lightbench(
    title: "Tiles through descriptors that the kernel makes",
    steps: [
        triton(kernel: "add", args: ["a", "b", "c", "n: i32"], grid: ["ceil_div(n, 256)"],
               constexprs: {"BLOCK": 256}),
    ],
) @"""
import triton
import triton.language as tl


@triton.jit
def add(a, b, c, count, BLOCK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [count], [1], [BLOCK])
    right = tl.make_tensor_descriptor(b, [count], [1], [BLOCK])
    total = tl.make_tensor_descriptor(c, [count], [1], [BLOCK])
    at = tl.program_id(0) * BLOCK
    total.store([at], left.load([at]) + right.load([at]))
