/*@ lightbench(
    title: "An index of 32 bits",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `blockIdx.x * 256` is computed in 32 bits and becomes negative from element 2^31 on.
// How it shows: only with more than 8 GiB in each vector.

__global__ void __launch_bounds__(256)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long n) {
    const int index = blockIdx.x * 256 + threadIdx.x;
    if (index < n) {
        c[index] = a[index] + b[index];
    }
}
