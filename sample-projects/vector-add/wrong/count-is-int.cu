/*@ lightbench(
    title: "Declares the element count as int",
    expect: refused(arguments),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: the project passes `n: i64`; the kernel declares `int n`.
// How it shows: the parameter list of the compiled kernel is compared with the arguments before the
// first launch: 4 bytes where 8 are passed. On a little-endian machine it would even work, up to 2^31
// elements, and then fail far from here.

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    const int index = blockIdx.x * 256 + threadIdx.x;
    if (index < n) {
        c[index] = a[index] + b[index];
    }
}
