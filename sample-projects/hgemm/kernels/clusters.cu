/*@ lightbench(
    title: "Persistent blocks in clusters of two that share each tile of b",
    arch: specific,
    params: {"COLUMNS": [256, 128], "GROUP": [8, 4, 16]},
    // With fewer than a wave of the large tiles, half as large ones occupy more multiprocessors.
    require: ["COLUMNS == 256 or ceil_div(m, 256) * ceil_div(n, 256) * 2 <= device.sms // 2",
              "COLUMNS == 128 or ceil_div(m, 256) * ceil_div(n, 256) * 2 > device.sms // 2"],
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128, l2_promotion: b256),
        (name: "b_map", tensor: "b", box: ["COLUMNS // 2", "64"], swizzle: b128, l2_promotion: b256),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c_map", "m", "n", "k"],
               grid: ["min(device.sms // 2 * 2, ceil_div(m, 256) * ceil_div(n, COLUMNS) * 2)"], block: [384],
               cluster: [2], shared: "4 * 49152 + 4 * 8192 + 2048"),
    ],
) @*/

#include "hopper.cuh"

using namespace hopper;

constexpr int tile_m = 128;  // rows of c of a block: 64 for each of two warpgroups
constexpr int tile_n = PARAM_COLUMNS;
constexpr int tile_k = 64;   // 128 bytes, the span of the swizzle
constexpr int stages = tile_n == 256 ? 4 : 6;
constexpr int blocks = 2;    // of a cluster, one above the other
constexpr int box = 64 * 64; // elements of a box of c

struct Shared {
    bf16 a[stages][tile_m * tile_k];
    bf16 b[stages][tile_n * tile_k];
    bf16 c[2][2][box];
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
    return make_int2((first + place % height) * tile_m * blocks, place / height * tile_n);
}

__global__ void __launch_bounds__(384, 1)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
      const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);

    const int warpgroup = threadIdx.x / 128;
    const unsigned rank = rank_in_cluster();
    const int tiles_m = (m + tile_m * blocks - 1) / (tile_m * blocks);
    const int tiles_n = (n + tile_n - 1) / tile_n;
    const int steps = (k + tile_k - 1) / tile_k;
    const int clusters = gridDim.x / blocks;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 2 * blocks);
        }
        fence_init();
        prefetch(a_map);
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
                const int2 tile = tile_of(index, tiles_m, tiles_n);
                const int row = tile.x + rank * tile_m;
                const int column = tile.y + rank * tile_n / blocks;
                for (int step = 0; step < steps; ++step) {
                    // Both warpgroups of both blocks have read the stage: half of b is written in the other block.
                    wait(&shared.empty[stage], parity ^ 1);
                    arrive_expect(&shared.full[stage], sizeof(shared.a[0]) + sizeof(shared.b[0]));
                    load(shared.a[stage], a_map, step * tile_k, row, &shared.full[stage]);
                    load_multicast(shared.b[stage] + rank * (tile_n / blocks * tile_k), b_map, step * tile_k, column,
                                   &shared.full[stage], (1 << blocks) - 1);
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
        const int warp = thread / 32;
        const int lane = thread % 32;
        for (int index = blockIdx.x / blocks; index < tiles_m * tiles_n; index += clusters) {
            const int2 tile = tile_of(index, tiles_m, tiles_n);
            float sums[tile_n / 2];
#pragma unroll
            for (float& sum : sums) {
                sum = 0.0f;
            }
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                wait(&shared.full[stage], parity);
                fence_products();
                const unsigned long long a = descriptor(shared.a[stage] + consumer * 64 * tile_k);
                const unsigned long long b = descriptor(shared.b[stage]);
#pragma unroll
                for (int part = 0; part < tile_k / 16; ++part) {
                    multiply(sums, a + part * 2, b + part * 2);
                }
                commit_products();
                // The products of the step before are done, and with them its stage.
                wait_products<1>();
                if (step > 0 && thread < blocks) {
                    arrive_at(&shared.empty[previous], thread);
                }
                previous = stage;
                if (++stage == stages) {
                    stage = 0;
                    parity ^= 1;
                }
            }
            wait_products<0>();
            if (thread < blocks) {
                arrive_at(&shared.empty[previous], thread);
            }

            // Out through shared memory, 64 columns at a time; one box is written while the copy of another is read.
#pragma unroll
            for (int part = 0; part < tile_n / 64; ++part) {
                bf16* const out = shared.c[consumer][part % 2];
                if (thread == 0) {
                    wait_stores_read<1>();
                }
                barrier_of(1 + consumer, 128);
#pragma unroll
                for (int pair = 0; pair < 4; ++pair) {
                    const float* const d = &sums[part * 32 + pair * 8];
                    const int row = warp * 16 + lane % 16;
                    const int chunk = pair * 2 + lane / 16;
                    store_matrices(out + row * 64 + (chunk ^ row % 8) * 8, pack(d[0], d[1]), pack(d[2], d[3]),
                                   pack(d[4], d[5]), pack(d[6], d[7]));
                }
                fence_async();
                barrier_of(1 + consumer, 128);
                if (thread == 0) {
                    store(c_map, out, tile.y + part * 64, tile.x + rank * tile_m + consumer * 64);
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
