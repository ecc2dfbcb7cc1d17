/*@ lightbench(
    title: "Copies by the Tensor Memory Accelerator, products by warpgroups",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", box: ["128", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c", "m", "n", "k"],
               grid: ["ceil_div(m, 128)", "ceil_div(n, 128)"], block: [256], shared: "3 * 32768 + 2048"),
    ],
) @*/

// Against `tensor-cores`: one thread orders a whole tile, and the copy engine computes the addresses, keeps out of the
// rows and columns that do not exist, and permutes the chunks so that no bank is hit twice. The tensor cores read both
// operands from shared memory themselves: no fragment of a or b passes through registers.

#include "hopper.cuh"

using namespace hopper;

constexpr int tile = 128;   // rows and columns of c; 64 rows for each of two warpgroups
constexpr int tile_k = 64;  // 128 bytes, the span of the swizzle
constexpr int stages = 3;

struct Shared {
    bf16 a[stages][tile * tile_k];
    bf16 b[stages][tile * tile_k];
    Barrier full[stages];
};

__global__ void __launch_bounds__(256, 2)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, bf16* __restrict__ c, int m,
      int n, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int first_row = blockIdx.x * tile;
    const int first_column = blockIdx.y * tile;
    const int steps = (k + tile_k - 1) / tile_k;

    const auto copy = [&](int step) {
        const int stage = step % stages;
        arrive_expect(&shared.full[stage], sizeof(shared.a[0]) + sizeof(shared.b[0]));
        load(shared.a[stage], a_map, step * tile_k, first_row, &shared.full[stage]);
        load(shared.b[stage], b_map, step * tile_k, first_column, &shared.full[stage]);
    };

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
        }
        fence_init();
        for (int step = 0; step < min(steps, stages - 1); ++step) {
            copy(step);
        }
    }
    __syncthreads();

    const int warpgroup = threadIdx.x / 128;
    float sums[tile / 2];
#pragma unroll
    for (float& sum : sums) {
        sum = 0.0f;
    }
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&shared.full[stage], step / stages % 2);
        fence_products();
        const unsigned long long a = descriptor(shared.a[stage] + warpgroup * 64 * tile_k);
        const unsigned long long b = descriptor(shared.b[stage]);
#pragma unroll
        for (int part = 0; part < tile_k / 16; ++part) {
            multiply(sums, a + part * 2, b + part * 2);
        }
        commit_products();
        // The products of the step before are done in both warpgroups: its stage is free.
        wait_products<1>();
        __syncthreads();
        if (threadIdx.x == 0 && step + stages - 1 < steps) {
            copy(step + stages - 1);
        }
    }
    wait_products<0>();

    // PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": four sums for each 8 columns.
    const int warp = threadIdx.x % 128 / 32;
    const int lane = threadIdx.x % 32;
    const int row = first_row + warpgroup * 64 + warp * 16 + lane / 4;
#pragma unroll
    for (int index = 0; index < tile / 2; index += 2) {
        const int at = row + index / 2 % 2 * 8;
        const int column = first_column + index / 4 * 8 + lane % 4 * 2;
        // n is even: the second column exists if the first does.
        if (at < m && column < n) {
            *reinterpret_cast<unsigned*>(c + static_cast<long long>(at) * n + column) =
                pack(sums[index], sums[index + 1]);
        }
    }
}
