/*@ lightbench(
    title: "Persistent blocks that walk through the tiles of all groups",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128, l2_promotion: b256),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["256", "64"], swizzle: b128, l2_promotion: b256),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        // A group that is not empty has one tile more than whole ones at most.
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c_map", "c", "groups", "n", "k"],
               grid: ["min(device.sms, (tokens // 128 + groups) * ceil_div(n, 256))"], block: [384],
               shared: "4 * 49152 + 4 * 8192 + 2048"),
    ],
) @*/

// Against `whole-grid`: as many blocks as multiprocessors. Each computes from the offsets which tiles are its own, so
// that no block is launched for nothing, and the last wave is as full as the sum of all tiles permits. While one tile
// leaves, the operands of the next one come in. The tiles of a group that share columns of b run together.

#include "tile.cuh"

using namespace hopper;

constexpr int stages = 4;

struct Shared {
    Operands operands[stages];
    bf16 c[2][2][box];
    Barrier full[stages];
    Barrier empty[stages];
};

/// The tiles of a block, one after the other: every `gridDim.x`-th of all, by group, column and row.
struct Tiles {
    const int* offsets;
    int groups;
    int tiles_n;
    int index;  // of the next tile, counted from the first one of `group`
    int group = 0;

    __device__ __forceinline__ bool next(Tile& tile) {
        for (; group < groups; ++group) {
            const int first_row = offsets[group];
            const int rows = offsets[group + 1] - first_row;
            const int tiles_m = (rows + tile_m - 1) / tile_m;
            if (index < tiles_m * tiles_n) {
                const int row = index % tiles_m * tile_m;
                tile = {group, first_row + row, rows - row, index / tiles_m * tile_n};
                index += gridDim.x;
                return true;
            }
            index -= tiles_m * tiles_n;
        }
        return false;
    }
};

__global__ void __launch_bounds__(384, 1)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map, bf16* __restrict__ c,
             int groups, int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    const int steps = (k + tile_k - 1) / tile_k;
    Tiles tiles = {offsets, groups, (n + tile_n - 1) / tile_n, static_cast<int>(blockIdx.x)};
    Tile tile;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 2);
        }
        fence_init();
    }
    __syncthreads();

    int stage = 0;
    unsigned parity = 0;
    const auto advance = [&] {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    };
    if (warpgroup == 0) {
        give_registers<40>();
        if (threadIdx.x == 0) {
            while (tiles.next(tile)) {
                for (int step = 0; step < steps; ++step) {
                    wait(&shared.empty[stage], parity ^ 1);
                    copy(shared.operands[stage], a_map, b_map, tile, n, step, &shared.full[stage]);
                    advance();
                }
            }
        }
        return;
    }

    take_registers<232>();
    const int consumer = warpgroup - 1;
    const bool speaks = threadIdx.x % 128 == 0;
    while (tiles.next(tile)) {
        float sums[tile_n / 2];
#pragma unroll
        for (float& sum : sums) {
            sum = 0.0f;
        }
        int previous = 0;
        for (int step = 0; step < steps; ++step) {
            wait(&shared.full[stage], parity);
            multiply_step(sums, shared.operands[stage], consumer);
            // The products of the step before are done, and with them its stage.
            wait_products<1>();
            if (step > 0 && speaks) {
                arrive(&shared.empty[previous]);
            }
            previous = stage;
            advance();
        }
        wait_products<0>();
        if (speaks) {
            arrive(&shared.empty[previous]);
        }

        // Out through shared memory, 64 columns at a time; one box is written while the copy of another is read.
        const int row = tile.first_row + consumer * 64;
        const int rows = min(tile.rows - consumer * 64, 64);
#pragma unroll
        for (int part = 0; part < tile_n / 64; ++part) {
            bf16* const out = shared.c[consumer][part % 2];
            if (speaks) {
                wait_stores_read<1>();
            }
            barrier_of(1 + consumer, 128);
            write_box(out, sums + part * 32);
            fence_async();
            barrier_of(1 + consumer, 128);
            if (rows < 64) {
                store_rows(c, out, row, rows, tile.first_column + part * 64, n);
            } else if (speaks) {
                store(c_map, out, tile.first_column + part * 64, row);
            }
            if (speaks) {
                // Without a copy too: the wait above counts groups.
                commit_stores();
            }
        }
        // A box stored by ordinary stores was read; the first one of the next tile is not written before that.
        barrier_of(1 + consumer, 128);
    }
    if (speaks) {
        wait_stores_read<0>();
    }
}
