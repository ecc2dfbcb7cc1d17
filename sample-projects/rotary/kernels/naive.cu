/*@ lightbench(
    title: "One thread per point",
    params: { "BLOCK": [256, 128, 512] },
    steps: [
        launch(kernel: "rotary<PARAM_BLOCK>", grid: ["ceil_div(tokens * heads * half, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// A thread owns both coordinates of its point, so nobody else reads what it overwrites. It pays for finding out which
// point that is (two 64-bit divisions), loads the position of its token, two table entries and two bf16, and stores
// two.

#include <cuda_bf16.h>

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long point = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point - head * half);
    const long long entry = static_cast<long long>(position[head / heads]) * half + index;
    const float cosine = cosines[entry];
    const float sine = sines[entry];
    __nv_bfloat16* first = x + head * (2 * half) + index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[half]);
    first[0] = __float2bfloat16(left * cosine - right * sine);
    first[half] = __float2bfloat16(right * cosine + left * sine);
}
