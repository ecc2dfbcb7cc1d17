/*@ lightbench(
    title: "Adds in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: the operands are narrowed to bf16 'because the model runs in bf16 anyway'. The task is
// declared in f32.
// How it shows: every element is close, none is right: relative errors up to 2^-8 where f32 allows
// 2^-24. A comparison with a tolerance of one percent would let it through.

#include <cuda_bf16.h>

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        c[index] = __bfloat162float(__hadd(__float2bfloat16(a[index]), __float2bfloat16(b[index])));
    }
}
