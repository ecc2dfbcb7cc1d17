/*@ lightbench(
    title: "16-byte vectors from halves of any width",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "rotary", grid: ["ceil_div(tokens * heads * ceil_div(half, 8), 256)"], block: [256]),
    ],
) @*/

// The mistake: eight bf16 an access. Half of a head is a multiple of four here, so the second half may begin in the
// middle of a vector.
// How it shows: `misaligned address` for half = 20. All models that people know have halves of 32 or 64.

#include <cuda_bf16.h>

__global__ void rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ position, long long tokens, int heads, int half) {
    const int vectors = (half + 7) / 8;
    const long long vector = blockIdx.x * 256LL + threadIdx.x;
    if (vector >= tokens * heads * vectors) {
        return;
    }
    const long long head = vector / vectors;
    const int first = static_cast<int>(vector % vectors) * 8;
    const long long entry = static_cast<long long>(position[head / heads]) * half + first;
    __nv_bfloat16* left_at = x + head * (2 * half) + first;
    __nv_bfloat16* right_at = left_at + half;
    if (first + 8 <= half) {
        uint4 left_words = *reinterpret_cast<const uint4*>(left_at);
        uint4 right_words = *reinterpret_cast<const uint4*>(right_at);
        __nv_bfloat16* left = reinterpret_cast<__nv_bfloat16*>(&left_words);
        __nv_bfloat16* right = reinterpret_cast<__nv_bfloat16*>(&right_words);
        for (int index = 0; index < 8; ++index) {
            const float u = __bfloat162float(left[index]);
            const float v = __bfloat162float(right[index]);
            left[index] = __float2bfloat16(u * cosines[entry + index] - v * sines[entry + index]);
            right[index] = __float2bfloat16(v * cosines[entry + index] + u * sines[entry + index]);
        }
        *reinterpret_cast<uint4*>(left_at) = left_words;
        *reinterpret_cast<uint4*>(right_at) = right_words;
        return;
    }
    for (int index = 0; index < half - first; ++index) {
        const float u = __bfloat162float(left_at[index]);
        const float v = __bfloat162float(right_at[index]);
        left_at[index] = __float2bfloat16(u * cosines[entry + index] - v * sines[entry + index]);
        right_at[index] = __float2bfloat16(v * cosines[entry + index] + u * sines[entry + index]);
    }
}
