/*@ lightbench(
    title: "Sixty-four elements of each thread in registers",
    steps: [
        launch(kernel: "smooth", grid: ["ceil_div(n, 256 * 64)"], block: [256]),
    ],
) @*/

// The pointers are not __restrict__: y could be x, so that every load must come before the first store, and each loaded value
// occupies a register.

constexpr int threads_per_block = 256;
constexpr int per_thread = 64;

__global__ void smooth(const float* x, float* y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * threads_per_block * per_thread + threadIdx.x;
    float middle[per_thread];
    float sides[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const long long i = first + k * threads_per_block;
        middle[k] = i < n ? x[i] : 0.0f;
        sides[k] = (i > 0 && i - 1 < n ? x[i - 1] : 0.0f) + (i + 1 < n ? x[i + 1] : 0.0f);
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const long long i = first + k * threads_per_block;
        if (i < n) {
            y[i] = (middle[k] + sides[k]) * (1.0f / 3.0f);
        }
    }
}
