/*@ lightbench(
    title: "Two heads per block, and half a head too few",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "rotary", grid: ["tokens", "max(1, heads // 2)"], block: ["half", 2]),
    ],
) @*/

// The mistake: a block takes two heads of a token, and the grid is heads // 2 instead of ceil_div(heads, 2).
// How it shows: the last head of an odd number keeps its old value. In place, nothing is unwritten, and nothing is NaN:
// what is there is a plausible head that nobody has turned.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const int head = blockIdx.y * 2 + threadIdx.y;
    if (head >= heads) {
        return;
    }
    const int index = threadIdx.x;
    const long long entry = static_cast<long long>(position[blockIdx.x]) * half + index;
    __nv_bfloat16* first = x + (blockIdx.x * static_cast<long long>(heads) + head) * (2 * half) + index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[half]);
    first[0] = __float2bfloat16(left * cosines[entry] - right * sines[entry]);
    first[half] = __float2bfloat16(right * cosines[entry] + left * sines[entry]);
}
