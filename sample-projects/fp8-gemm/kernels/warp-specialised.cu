/*@ lightbench(
    title: "A warp that copies, two warpgroups that multiply and add",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "128"], swizzle: b128),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "128"]),
        (name: "b_map", tensor: "b", box: ["128", "128"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "k"],
               grid: ["ceil_div(m, 128)", "ceil_div(n, 128)"], block: [384], shared: "6 * 33280 + 2048"),
    ],
) @*/

// Against `asynchronous`: no barrier of the block holds the two warpgroups together. While one of them adds its sums to
// its totals, the products of the other keep the tensor cores busy.

#include "block.cuh"

using namespace hopper;

constexpr int stages = 6;

struct Shared {
    Operands operands[stages];
    float a_scale[stages][tile];
    Barrier full[stages];
    Barrier empty[stages];
};

__global__ void __launch_bounds__(384, 1)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int warpgroup = threadIdx.x / 128;
    const int first_row = blockIdx.x * tile;
    const int first_column = blockIdx.y * tile;
    const int steps = (k + depth - 1) / depth;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
            init(&shared.empty[stage], 8);
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
                arrive_expect(&shared.full[stage], stage_bytes);
                load(shared.operands[stage].a, a_map, step * depth, first_row, &shared.full[stage]);
                load(shared.operands[stage].b, b_map, step * depth, first_column, &shared.full[stage]);
                load(shared.a_scale[stage], a_scale_map, first_row, step, &shared.full[stage]);
            }
        }
        return;
    }

    take_registers<232>();
    const int consumer = warpgroup - 1;
    const int row = consumer * 64 + upper_row();
    const float* const scales_of_b = b_scale + static_cast<long long>(blockIdx.y) * steps;
    float totals[64] = {};
    float sums[64] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        const float of_b = scales_of_b[step];
        wait(&shared.full[stage], step / stages % 2);
        const float upper = shared.a_scale[stage][row] * of_b;
        const float lower = shared.a_scale[stage][row + 8] * of_b;
        multiply_block(sums, shared.operands[stage].a + consumer * 64 * depth, shared.operands[stage].b);
        wait_products<0>();
        // Each warp arrives, because each has read scales of its own.
        if (threadIdx.x % 32 == 0) {
            arrive(&shared.empty[stage]);
        }
        promote(totals, sums, upper, lower);
    }

    // Every copy has arrived and was read: a stage now holds the tile of c.
    barrier_of(1, 256);
    bf16* const out = reinterpret_cast<bf16*>(&shared.operands[consumer]);
#pragma unroll
    for (int part = 0; part < tile / 64; ++part) {
        write_box(out + part * box, totals + part * 32);
    }
    fence_async();
    barrier_of(2 + consumer, 128);
    if (threadIdx.x % 128 == 0) {
        for (int part = 0; part < tile / 64; ++part) {
            store(c_map, out + part * box, first_column + part * 64, first_row + consumer * 64);
        }
        commit_stores();
        wait_stores_read<0>();
    }
}
