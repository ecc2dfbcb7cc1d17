/*@ lightbench(
    title: "Whole 16-byte vectors only",
    expect: wrong(numeric),
    steps: [
        fill(buffer: "total", value: 0),
        launch(kernel: "vector_sum", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// The mistake: `n / 4` vectors, and nobody adds the one to three elements that are left over.
// How it shows: in a copy they would be unwritten; in a sum nothing is. Three elements of a million are
// within the tolerance of anyone who compares sums with `1e-3`, and n = 3 gives exactly zero.

__global__ void vector_sum(const float* __restrict__ x, float* __restrict__ total, long long n) {
    const long long vector = blockIdx.x * 256LL + threadIdx.x;
    float sum = 0.0f;
    if (vector < n / 4) {
        const float4 values = reinterpret_cast<const float4*>(x)[vector];
        sum = (values.x + values.y) + (values.z + values.w);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}
