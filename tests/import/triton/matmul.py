import torch
import triton
import triton.language as tl


def configurations():
    return [
        triton.Config({"TILE_M": m, "TILE_N": 64, "TILE_K": 32, "GROUP": 8}, num_stages=3, num_warps=4)
        for m in [64, 32]
    ]


@triton.autotune(configs=configurations(), key=["M", "N", "K"])
@triton.jit
def product_kernel(
    a, b, c, M, N, K, a_row, a_col, b_row, b_col, c_row, c_col,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    program = tl.program_id(axis=0)
    tiles_m, tiles_n = tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N)
    in_group = GROUP * tiles_n
    group = program // in_group
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % in_group) % height
    tile_n = (program % in_group) // height
    rows = (tile_m * TILE_M + tl.arange(0, TILE_M)) % M
    cols = (tile_n * TILE_N + tl.arange(0, TILE_N)) % N
    inner = tl.arange(0, TILE_K)
    a_at = a + rows[:, None] * a_row + inner[None, :] * a_col
    b_at = b + inner[:, None] * b_row + cols[None, :] * b_col
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        left = tl.load(a_at, mask=inner[None, :] < K - k * TILE_K, other=0.0)
        right = tl.load(b_at, mask=inner[:, None] < K - k * TILE_K, other=0.0)
        total = tl.dot(left, right, total)
        a_at += TILE_K * a_col
        b_at += TILE_K * b_row
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    rows = tile_m * TILE_M + tl.arange(0, TILE_M)
    cols = tile_n * TILE_N + tl.arange(0, TILE_N)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * c_row + cols[None, :] * c_col, total.to(tl.float16), mask=inside)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


def matmul(a, b, activation=""):
    assert a.shape[1] == b.shape[0], "inner sizes differ"
    assert a.is_contiguous(), "a has gaps"
    M, K = a.shape
    K, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=torch.float16)
    grid = lambda META: (triton.cdiv(M, META["TILE_M"]) * triton.cdiv(N, META["TILE_N"]),)
    product_kernel[grid](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        ACTIVATION=activation,
    )
    return c
