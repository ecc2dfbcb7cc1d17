/*@ lightbench(
    title: "Pairs neighbours instead of halves",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * half, 256)"], block: [256]),
    ],
) @*/

// The mistake: there are two conventions. GPT-J turns (x[0], x[1]), (x[2], x[3]), …; GPT-NeoX and Llama turn (x[0],
// x[half]), (x[1], x[half + 1]), … . This is the first, and the project defines the second.
// How it shows: not in the lengths, not in the products of queries and keys that were both turned this way, and not in
// any test that the same code wrote. With the weights of the other convention a model talks nonsense.

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
    __nv_bfloat16* first = x + head * (2 * half) + 2 * index;
    const float left = __bfloat162float(first[0]);
    const float right = __bfloat162float(first[1]);
    first[0] = __float2bfloat16(left * cosines[entry] - right * sines[entry]);
    first[1] = __float2bfloat16(right * cosines[entry] + left * sines[entry]);
}
