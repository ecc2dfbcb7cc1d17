/*@ lightbench(
    title: "Few rows: the weights stream through a cluster that splits k",
    arch: specific,
    params: {"WIDTH": [16, 32, 64], "STAGES": [4, 3, 6]},
    require: ["WIDTH >= min(m, 64)"],
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["WIDTH", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", box: ["128", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c", "m", "n", "k"],
               grid: ["max(1, min(4, 2 * device.sms // (ceil_div(n, 128) * ceil_div(m, WIDTH)))) * ceil_div(n, 128)", "ceil_div(m, WIDTH)"],
               cluster: ["max(1, min(4, 2 * device.sms // (ceil_div(n, 128) * ceil_div(m, WIDTH))))"],
               block: [288], shared: "STAGES * (16384 + WIDTH * 128) + 2048"),
    ],
) @*/

// With few rows the weights b are read once and decide the time; the products are nothing. So the roles change: rows
// of b take the place of the 64 rows that a tensor core wants, and the few rows of a that of the columns. Where n has
// too few tiles for all multiprocessors, the blocks of a cluster share a tile, each with its part of k, and add their
// sums through each other's shared memory: no scratch, no second launch, the same order of additions in every run.

#include "hopper.cuh"

using namespace hopper;

constexpr int width = PARAM_WIDTH;
constexpr int tile_n = 128;  // 64 rows of b for each of two warpgroups
constexpr int tile_k = 64;
constexpr int stages = PARAM_STAGES;
constexpr int threads = 288;

struct Stage {
    bf16 b[tile_n * tile_k];
    bf16 a[width * tile_k];
};

struct Shared {
    union {
        Stage stage[stages];
        // When all products are done.
        float sums[width][tile_n];
    };
    Barrier full[stages];
    Barrier empty[stages];
};

__global__ void __launch_bounds__(threads)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, bf16* __restrict__ c, int m,
      int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int ranks = blocks_in_cluster();
    const int rank = rank_in_cluster();
    const int first_n = blockIdx.x / ranks * tile_n;
    const int first_m = blockIdx.y * width;
    const int all_steps = (k + tile_k - 1) / tile_k;
    const int begin = all_steps * rank / ranks;
    const int steps = all_steps * (rank + 1) / ranks - begin;
    const int warpgroup = threadIdx.x / 128;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 2);
        }
        fence_init();
    }
    __syncthreads();

    if (warpgroup == 2) {
        if (threadIdx.x == 256) {
            for (int step = 0; step < steps; ++step) {
                const int stage = step % stages;
                wait(&shared.empty[stage], step / stages % 2 ^ 1);
                arrive_expect(&shared.full[stage], sizeof(Stage));
                load(shared.stage[stage].b, b_map, (begin + step) * tile_k, first_n, &shared.full[stage]);
                load(shared.stage[stage].a, a_map, (begin + step) * tile_k, first_m, &shared.full[stage]);
            }
        }
        __syncwarp();
    } else {
        float sums[width / 2];
#pragma unroll
        for (float& sum : sums) {
            sum = 0.0f;
        }
        for (int step = 0; step < steps; ++step) {
            const int stage = step % stages;
            wait(&shared.full[stage], step / stages % 2);
            fence_products();
            const unsigned long long b = descriptor(shared.stage[stage].b + warpgroup * 64 * tile_k);
            const unsigned long long a = descriptor(shared.stage[stage].a);
#pragma unroll
            for (int part = 0; part < tile_k / 16; ++part) {
                multiply(sums, b + part * 2, a + part * 2);
            }
            commit_products();
            wait_products<1>();
            if (step > 0 && threadIdx.x % 128 == 0) {
                arrive(&shared.empty[(step - 1) % stages]);
            }
        }
        wait_products<0>();
        // Every copy has arrived and was read by both warpgroups.
        barrier_of(1, 256);
        const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
        for (int index = 0; index < width / 2; ++index) {
            const int column = index / 4 * 8 + threadIdx.x % 4 * 2 + index % 2;
            shared.sums[column][row + index / 2 % 2 * 8] = sums[index];
        }
    }

    cluster_barrier();
    // Each block adds a part of the tile; neighbouring threads write neighbouring columns of c.
    constexpr int pairs = width * tile_n / 2;
    for (int pair = rank * threads + threadIdx.x; pair < pairs; pair += ranks * threads) {
        const int row = first_m + pair / (tile_n / 2);
        const int column = first_n + pair % (tile_n / 2) * 2;
        float2 sum = make_float2(0.0f, 0.0f);
        for (int other = 0; other < ranks; ++other) {
            const float2 part = read_at(reinterpret_cast<const float2*>(shared.sums) + pair, other);
            sum.x += part.x;
            sum.y += part.y;
        }
        if (row < m && column < n) {
            *reinterpret_cast<unsigned*>(c + static_cast<long long>(row) * n + column) = pack(sum.x, sum.y);
        }
    }
    // A block's shared memory exists until the others have read it.
    cluster_barrier();
}
