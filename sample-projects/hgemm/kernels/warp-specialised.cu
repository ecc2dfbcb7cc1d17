/*@ lightbench(
    title: "A warp that copies, two warpgroups that multiply",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", box: ["256", "64"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c_map", "m", "n", "k"],
               grid: ["ceil_div(m, 128)", "ceil_div(n, 256)"], block: [384], shared: "4 * 49152 + 2048"),
    ],
) @*/

// Against `asynchronous`: nobody stops for a barrier of the block. The warp that copies runs ahead as far as there are
// empty stages, and each warpgroup that multiplies tells it when it has read one. The registers that a copying warp
// does not need go to those that multiply, so that a block has 128 x 256 sums: fewer bytes for each product.

#include "hopper.cuh"

using namespace hopper;

constexpr int tile_m = 128;  // 64 rows for each of two warpgroups
constexpr int tile_n = 256;
constexpr int tile_k = 64;  // 128 bytes, the span of the swizzle
constexpr int stages = 4;

struct Shared {
    bf16 a[stages][tile_m * tile_k];
    bf16 b[stages][tile_n * tile_k];
    Barrier full[stages];
    Barrier empty[stages];
};

__global__ void __launch_bounds__(384, 1)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
      const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    const int first_row = blockIdx.x * tile_m;
    const int first_column = blockIdx.y * tile_n;
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
                arrive_expect(&shared.full[stage], sizeof(shared.a[0]) + sizeof(shared.b[0]));
                load(shared.a[stage], a_map, step * tile_k, first_row, &shared.full[stage]);
                load(shared.b[stage], b_map, step * tile_k, first_column, &shared.full[stage]);
            }
        }
        return;
    }

    take_registers<232>();
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128;
    float sums[tile_n / 2];
#pragma unroll
    for (float& sum : sums) {
        sum = 0.0f;
    }
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&shared.full[stage], step / stages % 2);
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
        if (step > 0 && thread == 0) {
            arrive(&shared.empty[(step - 1) % stages]);
        }
    }
    wait_products<0>();

    // Every copy has arrived and was read: the stages now hold the tile of c, 64 columns at a time.
    barrier_of(1, 256);
    bf16* const out = shared.b[consumer];
    const int warp = thread / 32;
    const int lane = thread % 32;
    const int row = warp * 16 + lane % 16;
#pragma unroll
    for (int part = 0; part < tile_n / 64; ++part) {
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            const float* const d = &sums[part * 32 + pair * 8];
            const int chunk = (pair * 2 + lane / 16) ^ row % 8;
            store_matrices(out + part * 4096 + row * 64 + chunk * 8, pack(d[0], d[1]), pack(d[2], d[3]),
                           pack(d[4], d[5]), pack(d[6], d[7]));
        }
    }
    fence_async();
    barrier_of(2 + consumer, 128);
    if (thread == 0) {
        for (int part = 0; part < tile_n / 64; ++part) {
            store(c_map, out + part * 4096, first_column + part * 64, first_row + consumer * 64);
        }
        commit_stores();
        wait_stores_read<0>();
    }
}
