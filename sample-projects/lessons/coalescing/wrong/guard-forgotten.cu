/*@ lightbench(
    title: "Forgets that the last block is not whole",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "scale", grid: ["ceil_div(n, 256 * 32)"], block: [256]),
    ],
) @*/

// The mistake: the loop runs over whole blocks, and n is no multiple of 8,192.
// How it shows: the workload `whole` is right. In `odd` the second block reads behind the end of x.

__global__ void scale(const float* __restrict__ x, float* __restrict__ y, long long n, float factor) {
    const long long first = static_cast<long long>(blockIdx.x) * 256 * 32;
    for (int k = 0; k < 32; ++k) {
        const long long i = first + k * 256 + threadIdx.x;
        y[i] = factor * x[i];
    }
}
