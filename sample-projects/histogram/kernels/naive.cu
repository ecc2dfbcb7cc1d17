/*@ lightbench(
    title: "One thread and one global atomic per byte",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram<PARAM_BLOCK>", grid: ["ceil_div(n, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// Right by construction, and bound by nothing but the atomic units of L2: all 256 counters lie in eight lines, and
// what hits the same counter is done one after the other.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    const long long index = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (index < n) {
        atomicAdd(&counts[x[index]], 1u);
    }
}
