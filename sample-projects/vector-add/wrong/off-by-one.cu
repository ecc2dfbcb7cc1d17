/*@ lightbench(
    title: "One element too many",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `<=` in the guard.
// How it shows: thread n reads a[n] and b[n] and writes c[n], one past the end. Every element of the
// result is right, and most allocators round sizes up, so it usually runs; where n is a multiple of
// the block size there is no thread n, and nothing happens at all.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index <= n) {
        c[index] = a[index] + b[index];
    }
}
