/*@ lightbench(
    title: "Persistent blocks in clusters of two that share each tile of b",
    arch: specific,
    params: {"GROUP": [8, 4, 16]},
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "128"], swizzle: b128, l2_promotion: b256),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "128"]),
        (name: "b_map", tensor: "b", box: ["64", "128"], swizzle: b128, l2_promotion: b256),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "m", "n", "k"],
               grid: ["min(device.sms // 2 * 2, ceil_div(m, 256) * ceil_div(n, 128) * 2)"], block: [384],
               cluster: [2], shared: "5 * 33280 + 4 * 8192 + 2048"),
    ],
) @*/

// Against `warp-specialised`: two blocks one above the other need the same tile of b, and each copies half of it into
// both. The blocks stay on their multiprocessors and take tile after tile, in an order that keeps their rows and columns
// in L2; while one tile leaves, the next one comes in.

#include "block.cuh"

using namespace hopper;

constexpr int stages = 5;
constexpr int blocks = 2;  // of a cluster, one above the other

struct Shared {
    Operands operands[stages];
    bf16 c[2][2][box];
    float a_scale[stages][tile];
    Barrier full[stages];
    Barrier empty[stages];
};

/// The first row and column of the `index`-th tile of a cluster: groups of rows, column by column, so that the
/// clusters that run together read few rows of a and few columns of b.
__device__ __forceinline__ int2 tile_of(int index, int tiles_m, int tiles_n) {
    const int in_group = PARAM_GROUP * tiles_n;
    const int first = index / in_group * PARAM_GROUP;
    const int height = min(tiles_m - first, PARAM_GROUP);
    const int place = index % in_group;
    return make_int2((first + place % height) * tile * blocks, place / height * tile);
}

__global__ void __launch_bounds__(384, 1)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);

    const int warpgroup = threadIdx.x / 128;
    const unsigned rank = rank_in_cluster();
    const int tiles_m = (m + tile * blocks - 1) / (tile * blocks);
    const int tiles_n = (n + tile - 1) / tile;
    const int steps = (k + depth - 1) / depth;
    const int clusters = gridDim.x / blocks;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 8 * blocks);
        }
        fence_init();
        prefetch(a_map);
        prefetch(a_scale_map);
        prefetch(b_map);
        prefetch(c_map);
    }
    cluster_barrier();

    int stage = 0;
    unsigned parity = 0;
    if (warpgroup == 0) {
        give_registers<40>();
        if (threadIdx.x == 0) {
            for (int index = blockIdx.x / blocks; index < tiles_m * tiles_n; index += clusters) {
                const int2 first = tile_of(index, tiles_m, tiles_n);
                const int row = first.x + rank * tile;
                const int column = first.y + rank * (tile / blocks);
                for (int step = 0; step < steps; ++step) {
                    // All warps of both blocks have read the stage: half of b is written in the other block.
                    wait(&shared.empty[stage], parity ^ 1);
                    Barrier* const full = &shared.full[stage];
                    arrive_expect(full, stage_bytes);
                    load(shared.operands[stage].a, a_map, step * depth, row, full);
                    load_multicast(shared.operands[stage].b + rank * (tile / blocks * depth), b_map, step * depth,
                                   column, full, (1 << blocks) - 1);
                    load(shared.a_scale[stage], a_scale_map, row, step, full);
                    if (++stage == stages) {
                        stage = 0;
                        parity ^= 1;
                    }
                }
            }
        }
        __syncwarp();
    } else {
        take_registers<232>();
        const int consumer = warpgroup - 1;
        const int thread = threadIdx.x % 128;
        const int row = consumer * 64 + upper_row();
        for (int index = blockIdx.x / blocks; index < tiles_m * tiles_n; index += clusters) {
            const int2 first = tile_of(index, tiles_m, tiles_n);
            const float* const scales_of_b = b_scale + static_cast<long long>(first.y / tile) * steps;
            float totals[64] = {};
            float sums[64] = {};
            for (int step = 0; step < steps; ++step) {
                const float of_b = scales_of_b[step];
                wait(&shared.full[stage], parity);
                const float upper = shared.a_scale[stage][row] * of_b;
                const float lower = shared.a_scale[stage][row + 8] * of_b;
                multiply_block(sums, shared.operands[stage].a + consumer * 64 * depth, shared.operands[stage].b);
                wait_products<0>();
                if (thread % 32 < blocks) {
                    arrive_at(&shared.empty[stage], thread % 32);
                }
                promote(totals, sums, upper, lower);
                if (++stage == stages) {
                    stage = 0;
                    parity ^= 1;
                }
            }

            // Out through shared memory, 64 columns at a time; one box is written while the copy of another is read.
#pragma unroll
            for (int part = 0; part < tile / 64; ++part) {
                bf16* const out = shared.c[consumer][part];
                if (thread == 0) {
                    wait_stores_read<1>();
                }
                barrier_of(1 + consumer, 128);
                write_box(out, totals + part * 32);
                fence_async();
                barrier_of(1 + consumer, 128);
                if (thread == 0) {
                    store(c_map, out, first.y + part * 64, first.x + rank * tile + consumer * 64);
                    commit_stores();
                }
            }
        }
        if (thread == 0) {
            wait_stores_read<0>();
        }
        __syncwarp();
    }
    // A block's shared memory exists until the other block has made its last access to it.
    cluster_barrier();
}
