/*@ lightbench(
    title: "One block per token, the angles in registers",
    params: { "THREADS": [256, 128, 512] },
    steps: [
        launch(kernel: "rotary<PARAM_THREADS>", grid: ["tokens"], block: ["max(1, THREADS // half) * half"]),
    ],
) @*/

// Against `naive`: all heads of a token turn by the same angles. A thread keeps one index of a head and walks over the
// heads, so it loads the position, its cosine and its sine once, and there is no division: the block is a whole number
// of half heads, laid side by side.

#include <cuda_bf16.h>

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
       const int* __restrict__ position, long long tokens, int heads, int half) {
    const int index = threadIdx.x % half;
    const long long entry = static_cast<long long>(position[blockIdx.x]) * half + index;
    const float cosine = cosines[entry];
    const float sine = sines[entry];
    __nv_bfloat16* token = x + blockIdx.x * static_cast<long long>(heads) * (2 * half);
    const int step = blockDim.x / half;
    for (int head = threadIdx.x / half; head < heads; head += step) {
        __nv_bfloat16* first = token + head * (2 * half) + index;
        const float left = __bfloat162float(first[0]);
        const float right = __bfloat162float(first[half]);
        first[0] = __float2bfloat16(left * cosine - right * sine);
        first[half] = __float2bfloat16(right * cosine + left * sine);
    }
}
