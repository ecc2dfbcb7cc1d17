/*@ lightbench(
    title: "Sums into its own input",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `a` is used as the accumulator and copied out afterwards.
// How it shows: c is right the first time. `a` is not what it was, so the second launch on the same
// buffers computes a + 2b, and a checker that computes its reference afterwards may even agree.

__global__ void vector_add(float* a, const float* b, float* c, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        a[index] += b[index];
        c[index] = a[index];
    }
}
