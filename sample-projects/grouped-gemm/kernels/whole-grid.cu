/*@ lightbench(
    title: "A block for every tile that a group could have",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["256", "64"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c_map", "c", "n", "k"],
               grid: ["ceil_div(tokens, 128)", "ceil_div(n, 256)", "groups"], block: [384], shared: "4 * 49152 + 2048"),
    ],
) @*/

// Against `naive`: tiles on tensor cores, copied by a warp of their own, as `hgemm/warp-specialised` has them. The host
// does not know how many rows a group has, so that the grid has blocks for all of them in each; most blocks end at once.

#include "tile.cuh"

using namespace hopper;

constexpr int stages = 4;

struct Shared {
    Operands operands[stages];
    Barrier full[stages];
    Barrier empty[stages];
};

__global__ void __launch_bounds__(384, 1)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map, bf16* __restrict__ c,
             int n, int k) {
    const int group = blockIdx.z;
    const int first_row = offsets[group] + blockIdx.x * tile_m;
    const Tile tile = {group, first_row, offsets[group + 1] - first_row, static_cast<int>(blockIdx.y) * tile_n};
    if (tile.rows <= 0) {
        return;
    }
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    const int steps = (k + tile_k - 1) / tile_k;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 2);
        }
        fence_init();
    }
    __syncthreads();

    if (warpgroup == 0) {
        give_registers<40>();
        if (threadIdx.x == 0) {
            for (int step = 0; step < steps; ++step) {
                const int stage = step % stages;
                // The first turn finds every stage empty: the phase before the first one counts as complete.
                wait(&shared.empty[stage], step / stages % 2 ^ 1);
                copy(shared.operands[stage], a_map, b_map, tile, n, step, &shared.full[stage]);
            }
        }
        return;
    }

    take_registers<232>();
    const int consumer = warpgroup - 1;
    const bool speaks = threadIdx.x % 128 == 0;
    float sums[tile_n / 2] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&shared.full[stage], step / stages % 2);
        multiply_step(sums, shared.operands[stage], consumer);
        // The products of the step before are done, and with them its stage.
        wait_products<1>();
        if (step > 0 && speaks) {
            arrive(&shared.empty[(step - 1) % stages]);
        }
    }
    wait_products<0>();

    // Every copy has arrived and was read: the stages now hold the tile of c, 64 columns at a time.
    barrier_of(1, 256);
    bf16* const out = shared.operands[consumer].b;
    const int row = tile.first_row + consumer * 64;
    const int rows = min(tile.rows - consumer * 64, 64);
#pragma unroll
    for (int part = 0; part < tile_n / 64; ++part) {
        write_box(out + part * box, sums + part * 32);
    }
    fence_async();
    barrier_of(2 + consumer, 128);
    for (int part = 0; part < tile_n / 64; ++part) {
        if (rows < 64) {
            store_rows(c, out + part * box, row, rows, tile.first_column + part * 64, n);
        } else if (speaks) {
            store(c_map, out + part * box, tile.first_column + part * 64, row);
        }
    }
    if (speaks) {
        commit_stores();
        wait_stores_read<0>();
    }
}
