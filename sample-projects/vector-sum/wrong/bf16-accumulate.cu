/*@ lightbench(
    title: "Adds in bf16",
    expect: wrong(imprecise),
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: half the registers and twice the rate, if one adds in bf16. Eight significant bits are left.
// How it shows: badly, on large inputs with mean zero: rounding errors of random sign cancel almost as well as the
// terms do, and the bound must allow for an honest f32 kernel in any order. A vector of one or three elements, or
// whole numbers that f32 adds exactly, leave it no excuse.

#include <cuda_bf16.h>

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    __nv_bfloat16 sum = __float2bfloat16(index < n ? x[index] : 0.0f);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum = __hadd(sum, __shfl_xor_sync(0xffffffffu, sum, distance));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, __bfloat162float(sum));
    }
}
