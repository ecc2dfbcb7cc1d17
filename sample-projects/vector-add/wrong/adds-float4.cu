/*@ lightbench(
    title: "Adds two float4 with +",
    expect: compile,
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// The mistake: CUDA's vector types have no operators; many code bases define their own, and code that
// is copied out of them leaves the definition behind.
// How it shows: `no operator "+" matches these operands`, with line and column.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long vector = blockIdx.x * 256LL + threadIdx.x;
    if (4 * vector + 4 <= n) {
        reinterpret_cast<float4*>(c)[vector] =
            reinterpret_cast<const float4*>(a)[vector] + reinterpret_cast<const float4*>(b)[vector];
    } else {
        for (long long index = 4 * vector; index < n; ++index) {
            c[index] = a[index] + b[index];
        }
    }
}
