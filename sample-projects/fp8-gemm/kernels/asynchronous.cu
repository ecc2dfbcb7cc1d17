/*@ lightbench(
    title: "Copies by the Tensor Memory Accelerator, products by warpgroups",
    arch: specific,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["128", "128"], swizzle: b128),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "128"]),
        (name: "b_map", tensor: "b", box: ["128", "128"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "k"],
               grid: ["ceil_div(m, 128)", "ceil_div(n, 128)"], block: [256], shared: "4 * 33280 + 2048"),
    ],
) @*/

// Against `tensor-cores`: one thread orders whole tiles and the scales of a, and the tensor cores read both operands
// from shared memory themselves. The products of a block of 128 are one group; while a warpgroup adds them to its totals
// in f32, the tensor cores have nothing to do.

#include "block.cuh"

using namespace hopper;

constexpr int stages = 4;

struct Shared {
    Operands operands[stages];
    float a_scale[stages][tile];
    Barrier full[stages];
};

__global__ void __launch_bounds__(256, 1)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int k) {
    extern __shared__ unsigned char bytes[];
    // The pattern of the swizzle repeats after 1024 bytes.
    Shared& shared = *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
    const int first_row = blockIdx.x * tile;
    const int first_column = blockIdx.y * tile;
    const int steps = (k + depth - 1) / depth;
    const float* const scales_of_b = b_scale + static_cast<long long>(blockIdx.y) * steps;

    const auto copy = [&](int step) {
        const int stage = step % stages;
        arrive_expect(&shared.full[stage], stage_bytes);
        load(shared.operands[stage].a, a_map, step * depth, first_row, &shared.full[stage]);
        load(shared.operands[stage].b, b_map, step * depth, first_column, &shared.full[stage]);
        load(shared.a_scale[stage], a_scale_map, first_row, step, &shared.full[stage]);
    };

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
        }
        fence_init();
        for (int step = 0; step < min(steps, stages); ++step) {
            copy(step);
        }
    }
    __syncthreads();

    const int warpgroup = threadIdx.x / 128;
    const int row = warpgroup * 64 + upper_row();
    float totals[64] = {};
    float sums[64] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        const float of_b = scales_of_b[step];
        wait(&shared.full[stage], step / stages % 2);
        const float upper = shared.a_scale[stage][row] * of_b;
        const float lower = shared.a_scale[stage][row + 8] * of_b;
        multiply_block(sums, shared.operands[stage].a + warpgroup * 64 * depth, shared.operands[stage].b);
        wait_products<0>();
        // Both warpgroups have read the stage.
        __syncthreads();
        if (threadIdx.x == 0 && step + stages < steps) {
            copy(step + stages);
        }
        promote(totals, sums, upper, lower);
    }

    // Every copy has arrived and was read: a stage now holds the tile of c.
    bf16* const out = reinterpret_cast<bf16*>(&shared.operands[warpgroup]);
#pragma unroll
    for (int part = 0; part < tile / 64; ++part) {
        write_box(out + part * box, totals + part * 32);
    }
    fence_async();
    barrier_of(1 + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
        for (int part = 0; part < tile / 64; ++part) {
            store(c_map, out + part * box, first_column + part * 64, first_row + warpgroup * 64);
        }
        commit_stores();
        wait_stores_read<0>();
    }
}
