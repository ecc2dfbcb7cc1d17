/*@ lightbench(
    title: "16-byte streaming accesses, several vectors in flight per thread",
    params: { "BLOCK": [256, 128, 512, 1024], "VECTORS": [2, 1, 4, 8] },
    require: ["BLOCK * VECTORS <= 4096"],
    steps: [
        launch(kernel: "vector_add<PARAM_BLOCK, PARAM_VECTORS>",
               grid: ["ceil_div(n, 4 * BLOCK * VECTORS)"], block: ["BLOCK"]),
    ],
) @*/

// Against `vector16`: each thread starts VECTORS independent 16-byte loads of each operand before it
// needs the first, and the accesses say that nothing will be used again (`.cs`, evict first), so that
// three streams larger than L2 do not push each other around in it.

template <int BLOCK, int VECTORS>
__global__ void __launch_bounds__(BLOCK)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long n) {
    const long long vectors = n / 4;
    const long long tile = static_cast<long long>(blockIdx.x) * (BLOCK * VECTORS);
    const float4* a_vectors = reinterpret_cast<const float4*>(a) + tile;
    const float4* b_vectors = reinterpret_cast<const float4*>(b) + tile;
    float4* c_vectors = reinterpret_cast<float4*>(c) + tile;

    if (tile + BLOCK * VECTORS <= vectors) {
        // A whole tile: no comparisons between the loads, so they all leave at once.
        float4 left[VECTORS];
        float4 right[VECTORS];
#pragma unroll
        for (int vector = 0; vector < VECTORS; ++vector) {
            left[vector] = __ldcs(a_vectors + vector * BLOCK + threadIdx.x);
            right[vector] = __ldcs(b_vectors + vector * BLOCK + threadIdx.x);
        }
#pragma unroll
        for (int vector = 0; vector < VECTORS; ++vector) {
            __stcs(c_vectors + vector * BLOCK + threadIdx.x,
                   make_float4(left[vector].x + right[vector].x, left[vector].y + right[vector].y,
                               left[vector].z + right[vector].z, left[vector].w + right[vector].w));
        }
        return;
    }

    // The last block: the same with a comparison each, then up to three single elements.
    const int remaining = static_cast<int>(vectors - tile);
#pragma unroll
    for (int vector = 0; vector < VECTORS; ++vector) {
        const int offset = vector * BLOCK + threadIdx.x;
        if (offset < remaining) {
            const float4 left = __ldcs(a_vectors + offset);
            const float4 right = __ldcs(b_vectors + offset);
            __stcs(c_vectors + offset,
                   make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w));
        }
    }
    const long long index = 4 * vectors + threadIdx.x;
    if (index < n) {
        c[index] = a[index] + b[index];
    }
}
