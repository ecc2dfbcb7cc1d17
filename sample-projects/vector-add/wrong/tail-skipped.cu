/*@ lightbench(
    title: "Whole 16-byte vectors only",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// The mistake: `n / 4` vectors, and nobody handles the one to three elements that are left over.
// How it shows: the last elements keep the poison that the output began with, but only where n is not
// a multiple of four; the sizes that people benchmark hide it.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long vector = blockIdx.x * 256LL + threadIdx.x;
    if (vector < n / 4) {
        const float4 left = reinterpret_cast<const float4*>(a)[vector];
        const float4 right = reinterpret_cast<const float4*>(b)[vector];
        reinterpret_cast<float4*>(c)[vector] =
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
}
