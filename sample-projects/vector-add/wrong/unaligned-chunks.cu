/*@ lightbench(
    title: "Equal chunks that begin anywhere",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "vector_add", grid: [4], block: [256]),
    ],
) @*/

// The mistake: the work is divided into four chunks of ceil(n / 4) elements, and each chunk is read as
// float4 from its first element, which is a multiple of 16 bytes only if the chunk size happens to be
// a multiple of four.
// How it shows: `misaligned address` as soon as there is a whole vector in the second chunk of an odd
// size. The tail is handled, so everything else is right.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long chunk = (n + gridDim.x - 1) / gridDim.x;
    const long long begin = min(blockIdx.x * chunk, n);
    const long long end = min(begin + chunk, n);
    const long long vectors = (end - begin) / 4;
    for (long long vector = threadIdx.x; vector < vectors; vector += 256) {
        const long long first = begin + 4 * vector;
        const float4 left = *reinterpret_cast<const float4*>(a + first);
        const float4 right = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(c + first) =
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
    for (long long index = begin + 4 * vectors + threadIdx.x; index < end; index += 256) {
        c[index] = a[index] + b[index];
    }
}
