/*@ lightbench(
    title: "Vectors, and nothing for what is left over",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "scale", grid: ["ceil_div(n, 256 * 32)"], block: [256]),
    ],
) @*/

// The mistake: an element that belongs to no whole vector is never written.
// How it shows: only where n is no multiple of four, and then at its last elements alone.

__global__ void scale(const float* __restrict__ x, float* __restrict__ y, long long n, float factor) {
    const long long first = static_cast<long long>(blockIdx.x) * 256 * 32;
    for (int k = 0; k < 8; ++k) {
        const long long i = first + 4 * (k * 256 + static_cast<int>(threadIdx.x));
        if (i + 3 < n) {
            const float4 v = *reinterpret_cast<const float4*>(x + i);
            *reinterpret_cast<float4*>(y + i) =
                make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
        }
    }
}
