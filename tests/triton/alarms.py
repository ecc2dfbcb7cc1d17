"""Counts the faults that `lightbench launch` reports on correct Triton kernels.

The kernels are those of Triton's tutorials in kind: element-wise, softmax, product, dropout, layer normalisation forward
and backward (with a lock), attention, and atomics. They compile without a GPU.

    pip install triton && python tests/triton/alarms.py target/release/lightbench
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(out, x, stride, rows, cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        mask = at < cols
        value = tl.load(x + row * stride + at, mask=mask, other=-float("inf"))
        terms = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * stride + at, terms / tl.sum(terms, axis=0), mask=mask)


@triton.jit
def matmul(a, b, c, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(size, M), tl.cdiv(size, N)
    in_group = GROUP * tiles_n
    first = program // in_group * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + program % in_group % height
    tile_n = program % in_group // height
    rows = (tile_m * M + tl.arange(0, M)) % size
    cols = (tile_n * N + tl.arange(0, N)) % size
    inner = tl.arange(0, K)
    a_at = a + rows[:, None] * size + inner[None, :]
    b_at = b + inner[:, None] * size + cols[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(size, K)):
        left = size - step * K
        a_tile = tl.load(a_at, mask=inner[None, :] < left, other=0.0)
        b_tile = tl.load(b_at, mask=inner[:, None] < left, other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_at += K
        b_at += K * size
    rows = tile_m * M + tl.arange(0, M)
    cols = tile_n * N + tl.arange(0, N)
    mask = (rows[:, None] < size) & (cols[None, :] < size)
    tl.store(c + rows[:, None] * size + cols[None, :], total.to(tl.float16), mask=mask)


@triton.jit
def dropout(x, out, n, share, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + at, mask=mask)
    kept = tl.rand(seed, at) > share
    tl.store(out + at, tl.where(kept, value / (1 - share), 0.0), mask=mask)


@triton.jit
def layer_norm(x, y, weight, bias, means, scales, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * cols
    y += row * cols
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, cols, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, cols, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < cols, other=0.0).to(tl.float32)
        away = tl.where(at < cols, value - mean, 0.0)
        squares += away * away
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for first in range(0, cols, BLOCK):
        at = first + tl.arange(0, BLOCK)
        mask = at < cols
        value = (tl.load(x + at, mask=mask, other=0.0).to(tl.float32) - mean) * scale
        tl.store(y + at, value * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


@triton.jit
def layer_norm_backward(dx, dy, dw, db, x, weight, means, scales, lock, cols, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    x += row * cols
    dy += row * cols
    dx += row * cols
    mine = row % GROUP
    lock += mine
    count = lock + GROUP
    dw += mine * cols + at
    db += mine * cols + at
    value = tl.load(x + at, mask=mask, other=0).to(tl.float32)
    slope = tl.load(dy + at, mask=mask, other=0).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(mask, (value - tl.load(means + row)) * scale, 0.0)
    weighted = tl.where(mask, tl.load(weight + at, mask=mask).to(tl.float32) * slope, 0.0)
    first = tl.sum(normal * weighted, axis=0) / cols
    second = tl.sum(weighted, axis=0) / cols
    tl.store(dx + at, (weighted - (normal * first + second)) * scale, mask=mask)
    own_dw = (slope * normal).to(tl.float16)
    own_db = slope.to(tl.float16)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        own_dw += tl.load(dw, mask=mask)
        own_db += tl.load(db, mask=mask)
    tl.store(dw, own_dw, mask=mask)
    tl.store(db, own_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def column_sums(parts, sums, rows, cols, M: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, rows, M):
        row = first + tl.arange(0, M)
        mask = (row[:, None] < rows) & (at[None, :] < cols)
        total += tl.load(parts + row[:, None] * cols + at[None, :], mask=mask, other=0.0)
    tl.store(sums + at, tl.sum(total, axis=0), mask=at < cols)


@triton.jit
def attention(q, k, v, out, scale, length, WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    tile = tl.program_id(0)
    base = tl.program_id(1) * length * WIDTH
    rows = tile * M + tl.arange(0, M)
    width = tl.arange(0, WIDTH)
    queries = tl.load(q + base + rows[:, None] * WIDTH + width[None, :])
    largest = tl.full([M], -1e30, tl.float32)
    sums = tl.zeros([M], tl.float32)
    total = tl.zeros([M, WIDTH], tl.float32)
    for first in range(0, (tile + 1) * M, N):
        cols = first + tl.arange(0, N)
        keys = tl.load(k + base + cols[None, :] * WIDTH + width[:, None])
        scores = tl.where(rows[:, None] >= cols[None, :], tl.dot(queries, keys) * scale, -1e30)
        new = tl.maximum(largest, tl.max(scores, 1))
        terms = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(largest - new)
        sums = sums * shrink + tl.sum(terms, 1)
        values = tl.load(v + base + cols[:, None] * WIDTH + width[None, :])
        total = tl.dot(terms.to(tl.float16), values, total * shrink[:, None])
        largest = new
    tl.store(out + base + rows[:, None] * WIDTH + width[None, :], (total / sums[:, None]).to(tl.float16))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(counts + tl.load(x + at, mask=mask, other=0), 1, mask=mask)


# The kernel, its constants, its warps, its arguments with the types of `launch --arg`, and its grid.
CASES = [
    (add, {"BLOCK": 1024}, 4, ["in:f32[98432]=normal"] * 2 + ["buf:f32[98432]", "i32:98432"], "97"),
    (softmax, {"BLOCK": 1024, "STAGES": 4}, 8,
     ["buf:f32[39050]", "in:f32[39050]=normal", "i32:781", "i32:50", "i32:781"], "16"),
    (matmul, {"M": 64, "N": 64, "K": 32, "GROUP": 8}, 4, ["in:f16[25600]=normal"] * 2 + ["buf:f16[25600]", "i32:160"], "9"),
    (dropout, {"BLOCK": 1024}, 4, ["in:f32[10000]=normal", "buf:f32[10000]", "i32:10000", "f32:0.5", "i32:123"], "10"),
    (layer_norm, {"BLOCK": 512}, 4,
     ["in:f16[16000]=normal", "buf:f16[16000]"] + ["in:f16[1000]=normal"] * 2 + ["buf:f32[16]"] * 2 + ["i32:1000", "f32:1e-5"],
     "16"),
    (layer_norm_backward, {"GROUP": 4, "BLOCK": 1024}, 4,
     ["buf:f16[16000]", "in:f16[16000]=normal"] + ["buf:f16[4000]=zeros"] * 2
     + ["in:f16[16000]=normal", "in:f16[1000]=normal", "in:f32[16]=normal", "in:f32[16]=ones", "buf:i32[8]=zeros", "i32:1000"],
     "16"),
    (column_sums, {"M": 32, "N": 128}, 4, ["in:f16[100000]=normal", "buf:f16[1000]", "i32:100", "i32:1000"], "8"),
    (attention, {"WIDTH": 64, "M": 64, "N": 32}, 4,
     ["in:f16[32768]=normal"] * 3 + ["buf:f16[32768]", "f32:0.18", "i32:256"], "4,2"),
    (histogram, {"BLOCK": 1024}, 4, ["in:i32[10000]=constant(7)", "buf:i32[256]=zeros", "i32:10000"], "10"),
]

WAYS = {
    "as usual": [],
    "adversarial": ["--schedule", "adversarial:7"],
    "one block": ["--block-order", "descending", "--resident-blocks", "1"],
}


def triton_type(argument):
    """The type of a parameter for Triton's compiler."""
    kind, _, rest = argument.partition(":")
    name = rest.split("[")[0] if kind in ("in", "buf") else kind
    pointer = "*" if kind in ("in", "buf") else ""
    return pointer + name.replace("f", "fp")


def main(program):
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for capability in (80, 90):
            for kernel, constants, warps, arguments, grid in CASES:
                names = [name for name in kernel.arg_names if name not in constants]
                types = dict(zip(names, map(triton_type, arguments))) | {name: "constexpr" for name in constants}
                source = ASTSource(fn=kernel, signature=types, constexprs=constants)
                target = GPUTarget("cuda", capability, 32)
                compiled = triton.compile(source, target=target, options={"num_warps": warps})
                file = Path(folder) / f"{kernel.__name__}-{capability}.ptx"
                file.write_text(compiled.asm["ptx"])
                shape = ["--grid", grid, "--block", str(32 * compiled.metadata.num_warps), "--shared",
                         str(compiled.metadata.shared)]
                # Triton adds two pointers to scratch memory, which these kernels do not use.
                given = [word for each in [*arguments, "null", "null"] for word in ("--arg", each)]
                for way, options in WAYS.items():
                    for checks in ("all", "strict"):
                        command = [program, "launch", str(file), *shape, "--checks", checks, "--json", *options, *given]
                        run = subprocess.run(command, capture_output=True, text=True)
                        outcome = {0: "clean", 1: "fault"}.get(run.returncode, "not supported")
                        counts[checks, outcome] += 1
                        if run.returncode == 1:
                            fault = json.loads(run.stdout)["faults"][0]
                            print(f"{file.stem}, {checks}, {way}: {fault['kind']}: {fault['details']}")
                        elif run.returncode > 1 and way == "as usual":
                            print(f"{file.stem}, {checks}: {(run.stderr or run.stdout).splitlines()[0]}")
    for (checks, outcome), count in sorted(counts.items()):
        print(f"--checks {checks}: {count} {outcome}")


main(*sys.argv[1:])
