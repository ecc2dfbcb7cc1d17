/*@ lightbench(
    title: "One thread per element, in place",
    expect: fault(data_race),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * 2 * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: each thread computes one element from the two of its point, and writes over what the thread of the other
// half has yet to read. With separate input and output it was right.
// How it shows: warps that are a head apart seldom meet. Wherever both halves are in one warp it is right.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const long long element = blockIdx.x * 256LL + threadIdx.x;
    if (element >= tokens * heads * 2 * half) {
        return;
    }
    const long long head = element / (2 * half);
    const int index = static_cast<int>(element % (2 * half));
    const long long entry = static_cast<long long>(position[head / heads]) * half + index % half;
    const float mine = __bfloat162float(x[element]);
    const float other = __bfloat162float(x[index < half ? element + half : element - half]);
    const float turned = index < half ? -other * sines[entry] : other * sines[entry];
    x[element] = __float2bfloat16(mine * cosines[entry] + turned);
}
