/*@ lightbench(
    title: "Takes tokens to stand at their index",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: row `token` of the tables instead of row `position[token]`.
// How it shows: one sequence that begins at 0 is right. Two in a batch, or one with a cache before it, are not.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long point = blockIdx.x * 256LL + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point % half);
    const long long entry = head / heads * half + index;
    __nv_bfloat16* first = x + head * (2 * half) + index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[half]);
    first[0] = __float2bfloat16(left * cosines[entry] - right * sines[entry]);
    first[half] = __float2bfloat16(right * cosines[entry] + left * sines[entry]);
}
