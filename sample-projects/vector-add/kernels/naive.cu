/*@ lightbench(
    title: "One thread per element",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "vector_add<PARAM_BLOCK>", grid: ["ceil_div(n, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// Where everybody starts. Neighbouring threads touch neighbouring elements, so the accesses of a warp
// already coalesce: 32 threads x 4 bytes = one 128-byte line for each operand.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long n) {
    // 64-bit before the multiplication: blockIdx.x * BLOCK wraps at 2^32 elements otherwise.
    const long long index = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (index < n) {
        c[index] = a[index] + b[index];
    }
}
