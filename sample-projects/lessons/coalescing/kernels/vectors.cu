/*@ lightbench(
    title: "Sixteen bytes for each thread and round",
    steps: [
        launch(kernel: "scale", grid: ["ceil_div(n, 256 * 32)"], block: [256]),
    ],
) @*/

// lesson: locked, the task fixes how many threads there are and that each takes 32 elements
constexpr int threads_per_block = 256;
constexpr int per_thread = 32;

__global__ void scale(const float* __restrict__ x, float* __restrict__ y, long long n, float factor) {
    const long long first = static_cast<long long>(blockIdx.x) * threads_per_block * per_thread;
// lesson: open
    // Side by side still, but four elements at once: a quarter of the instructions for the same sectors.
    for (int k = 0; k < per_thread / 4; ++k) {
        const long long i = first + 4 * (k * threads_per_block + static_cast<int>(threadIdx.x));
        if (i + 3 < n) {
            const float4 v = *reinterpret_cast<const float4*>(x + i);
            *reinterpret_cast<float4*>(y + i) =
                make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
        } else {
            for (long long j = i; j < n; ++j) {
                y[j] = factor * x[j];
            }
        }
    }
// lesson: locked
}
