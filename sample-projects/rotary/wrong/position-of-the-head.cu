/*@ lightbench(
    title: "Looks the position up by the number of the head",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: `position[head]`, where head counts all heads of all tokens.
// How it shows: with one head it is right; with more, heads take the positions of other tokens, and the last ones read
// beyond the end.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long point = blockIdx.x * 256LL + threadIdx.x;
    if (point >= tokens * heads * half) {
        return;
    }
    const long long head = point / half;
    const int index = static_cast<int>(point % half);
    const long long entry = static_cast<long long>(position[head]) * half + index;
    __nv_bfloat16* first = x + head * (2 * half) + index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[half]);
    first[0] = __float2bfloat16(left * cosines[entry] - right * sines[entry]);
    first[half] = __float2bfloat16(right * cosines[entry] + left * sines[entry]);
}
