"""@ lightbench(
    title: "Tiles, tl.dot",
    steps: [
        triton(kernel: "product", args: ["a", "b", "c", "m: i32", "n: i32", "k: i32"],
               grid: ["ceil_div(m, 64) * ceil_div(n, 64)"],
               constexprs: {"M": 64, "N": 64, "K": 64}, num_warps: 4, num_stages: 3),
    ],
) @"""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"M": 128, "N": 256, "K": 64})], key=["m", "n", "k"])
@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tiles = tl.cdiv(n, N)
    row = tl.program_id(0) // tiles * M + tl.arange(0, M)
    col = tl.program_id(0) % tiles * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    a_at = a + row[:, None].to(tl.int64) * k + inner[None, :]
    b_at = b + col[None, :].to(tl.int64) * k + inner[:, None]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        left = k - step * K
        a_tile = tl.load(a_at, mask=(row[:, None] < m) & (inner[None, :] < left), other=0.0)
        b_tile = tl.load(b_at, mask=(col[None, :] < n) & (inner[:, None] < left), other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_at += K
        b_at += K
    inside = (row[:, None] < m) & (col[None, :] < n)
    tl.store(c + row[:, None].to(tl.int64) * n + col[None, :], total.to(tl.bfloat16), mask=inside)
