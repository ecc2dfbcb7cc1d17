/*@ lightbench(
    title: "The last vector hangs over the end",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// The mistake: the guard tests the first element of the vector, not the last one.
// How it shows: for n not a multiple of four, one thread loads and stores up to twelve bytes beyond
// the end of each buffer: the opposite of `tail-skipped`, and the more dangerous of the two, because
// every element of the result is right.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long first = 4 * (blockIdx.x * 256LL + threadIdx.x);
    if (first < n) {
        const float4 left = *reinterpret_cast<const float4*>(a + first);
        const float4 right = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(c + first) =
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
}
