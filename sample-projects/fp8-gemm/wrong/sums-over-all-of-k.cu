/*@ lightbench(
    title: "Leaves the sums in the tensor cores",
    arch: specific,
    expect: wrong(numeric),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "128"], swizzle: b128),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "64"]),
        (name: "b_map", tensor: "b", box: ["128", "128"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "k"],
               grid: ["ceil_div(m, 64)", "ceil_div(n, 128)"], block: [128], shared: "3 * 24832 + 2 * 8192 + 2048"),
    ],
) @*/

// The mistake: the sums of all blocks stay in the tensor cores; the totals are scaled from one step to the next, so that
// no sum has to leave them.
// How it shows: terms that are small beside the sum lose most of their bits. Sums of random signs hide it, and so does a
// small k.

#include "one-block.cuh"

using namespace one_block;

/// As `multiply_block`, with the products added to what the sums are.
__device__ __forceinline__ void multiply_more(float (&sums)[64], const fp8* a, const fp8* b) {
    fence_products();
#pragma unroll
    for (int part = 0; part < depth / 32; ++part) {
        multiply(sums, descriptor(a) + part * 2, descriptor(b) + part * 2, true);
    }
    commit_products();
}

__global__ void __launch_bounds__(128)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int k) {
    Shared& shared = place();
    const int steps = (k + depth - 1) / depth;
    const float* const scales_of_b = b_scale + static_cast<long long>(blockIdx.y) * steps;
    begin(shared);
    if (threadIdx.x == 0) {
        for (int step = 0; step < min(steps, stages); ++step) {
            copy(shared, a_map, a_scale_map, b_map, step);
        }
    }
    const int row = upper_row();
    float totals[64] = {};
    float upper_before = 1.0f;
    float lower_before = 1.0f;
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&shared.full[stage], step / stages % 2);
        const float upper = shared.a_scale[stage][row] * scales_of_b[step];
        const float lower = shared.a_scale[stage][row + 8] * scales_of_b[step];
        // In units of this step's scales; those of the last step are multiplied at the end.
#pragma unroll
        for (int index = 0; index < 64; ++index) {
            totals[index] *= index / 2 % 2 == 0 ? upper_before / upper : lower_before / lower;
        }
        multiply_more(totals, shared.a[stage], shared.b[stage]);
        wait_products<0>();
        upper_before = upper;
        lower_before = lower;
        __syncthreads();
        if (threadIdx.x == 0 && step + stages < steps) {
            copy(shared, a_map, a_scale_map, b_map, step + stages);
        }
    }
#pragma unroll
    for (int index = 0; index < 64; ++index) {
        totals[index] *= index / 2 % 2 == 0 ? upper_before : lower_before;
    }
    finish(shared, c_map, totals);
}
