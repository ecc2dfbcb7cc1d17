/*@ lightbench(
    title: "16-byte accesses where half a head allows it, sizes known to the compiler",
    params: { "WARPS": [4, 2, 8] },
    constants: ["heads", "half"],
    steps: [
        launch(kernel: "rotary<PARAM_WARPS>", args: ["x", "cosines", "sines", "position", "tokens"],
               grid: ["ceil_div(tokens, WARPS)"], block: [32, "WARPS"]),
    ],
) @*/

// Against `vector8`: eight points per access where half of a head is a multiple of eight, and a warp per token, with
// all sizes known to the compiler: the division by the width of a head is a shift or a multiplication, the loop over
// the heads has a known length, and its loads are unrolled. A warp needs no whole number of heads: each lane finds its
// own.

#include <cuda_bf16.h>

constexpr int width = axis::half % 8 == 0 ? 8 : 4;  // points per access
constexpr int vectors = axis::half / width;         // in half of a head
constexpr int vectors_per_token = axis::heads * vectors;

struct __align__(2 * width) Points {
    unsigned int pairs[width / 2];
};

struct __align__(16) Angles {
    float values[width];
};

__device__ unsigned int packed(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned int*>(&pair);
}

template <int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
       const int* __restrict__ position, long long tokens) {
    const long long token = static_cast<long long>(blockIdx.x) * WARPS + threadIdx.y;
    if (token >= tokens) {
        return;
    }
    const long long entry = static_cast<long long>(position[token]) * vectors;
    Points* points = reinterpret_cast<Points*>(x) + token * (2 * vectors_per_token);
#pragma unroll 2
    for (int vector = threadIdx.x; vector < vectors_per_token; vector += 32) {
        const int head = vector / vectors;
        const int index = vector % vectors;
        const Angles cosine = reinterpret_cast<const Angles*>(cosines)[entry + index];
        const Angles sine = reinterpret_cast<const Angles*>(sines)[entry + index];
        Points* first = points + head * (2 * vectors) + index;
        Points left = first[0];
        Points right = first[vectors];
#pragma unroll
        for (int pair = 0; pair < width / 2; ++pair) {
            // A bf16 is the upper half of the f32 with the same value.
            const float u0 = __uint_as_float(left.pairs[pair] << 16);
            const float u1 = __uint_as_float(left.pairs[pair] & 0xffff0000u);
            const float v0 = __uint_as_float(right.pairs[pair] << 16);
            const float v1 = __uint_as_float(right.pairs[pair] & 0xffff0000u);
            const float c0 = cosine.values[2 * pair];
            const float c1 = cosine.values[2 * pair + 1];
            const float s0 = sine.values[2 * pair];
            const float s1 = sine.values[2 * pair + 1];
            left.pairs[pair] = packed(u0 * c0 - v0 * s0, u1 * c1 - v1 * s1);
            right.pairs[pair] = packed(v0 * c0 + u0 * s0, v1 * c1 + u1 * s1);
        }
        first[0] = left;
        first[vectors] = right;
    }
}
