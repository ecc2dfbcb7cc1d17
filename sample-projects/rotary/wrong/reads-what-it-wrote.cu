/*@ lightbench(
    title: "Uses the new coordinate for the other one",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: the first coordinate is written and then read again for the second.
// How it shows: at position 0, where the angle is zero, it is right, and for small angles it is close.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long point = blockIdx.x * 256LL + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point % half);
    const long long entry = static_cast<long long>(position[head / heads]) * half + index;
    __nv_bfloat16* first = x + head * (2 * half) + index;
    const float cosine = cosines[entry];
    const float sine = sines[entry];
    first[0] = __float2bfloat16(__bfloat162float(first[0]) * cosine - __bfloat162float(first[half]) * sine);
    first[half] = __float2bfloat16(__bfloat162float(first[half]) * cosine + __bfloat162float(first[0]) * sine);
}
