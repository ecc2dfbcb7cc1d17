/*@ lightbench(
    title: "Four points per thread, 8-byte accesses",
    params: { "THREADS": [128, 256, 64] },
    steps: [
        launch(kernel: "rotary<PARAM_THREADS>", grid: ["tokens"], block: ["max(1, 4 * THREADS // half) * half // 4"]),
    ],
) @*/

// Against `block-per-token`: four neighbouring points at a time, as two 8-byte vectors of four bf16 each. The angles
// come as two float4. Half of a head is a multiple of four, which keeps both aligned; that it is a multiple of eight,
// which 16-byte accesses need, the project does not promise (see `vector16`).

#include <cuda_bf16.h>

struct __align__(8) Bf16x4 {
    unsigned int pairs[2];
};

// A bf16 is the upper half of the f32 with the same value.
__device__ float low_of(unsigned int pair) { return __uint_as_float(pair << 16); }
__device__ float high_of(unsigned int pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ unsigned int packed(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned int*>(&pair);
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
rotary(__nv_bfloat16* x, const float* __restrict__ cosines, const float* __restrict__ sines,
       const int* __restrict__ position, long long tokens, int heads, int half) {
    const int vectors = half / 4;  // in half of a head
    const int index = threadIdx.x % vectors;
    const long long entry = static_cast<long long>(position[blockIdx.x]) * vectors + index;
    const float4 cosine = reinterpret_cast<const float4*>(cosines)[entry];
    const float4 sine = reinterpret_cast<const float4*>(sines)[entry];
    Bf16x4* token = reinterpret_cast<Bf16x4*>(x) + blockIdx.x * static_cast<long long>(heads) * (2 * vectors);
    const int step = blockDim.x / vectors;
    for (int head = threadIdx.x / vectors; head < heads; head += step) {
        Bf16x4* first = token + head * (2 * vectors) + index;
        const Bf16x4 left = first[0];
        const Bf16x4 right = first[vectors];
        const float4 u = make_float4(low_of(left.pairs[0]), high_of(left.pairs[0]), low_of(left.pairs[1]),
                                     high_of(left.pairs[1]));
        const float4 v = make_float4(low_of(right.pairs[0]), high_of(right.pairs[0]), low_of(right.pairs[1]),
                                     high_of(right.pairs[1]));
        first[0] = {packed(u.x * cosine.x - v.x * sine.x, u.y * cosine.y - v.y * sine.y),
                    packed(u.z * cosine.z - v.z * sine.z, u.w * cosine.w - v.w * sine.w)};
        first[vectors] = {packed(v.x * cosine.x + u.x * sine.x, v.y * cosine.y + u.y * sine.y),
                          packed(v.z * cosine.z + u.z * sine.z, v.w * cosine.w + u.w * sine.w)};
    }
}
