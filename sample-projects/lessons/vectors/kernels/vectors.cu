/*@ lightbench(
    title: "Sixteen bytes for each access",
    steps: [
        launch(kernel: "invert", grid: ["ceil_div(n, 256 * 16)"], block: [256]),
    ],
) @*/

// lesson: locked, each of 256 threads computes sixteen bytes
constexpr int threads_per_block = 256;
constexpr int per_thread = 16;

__global__ void invert(const unsigned char* __restrict__ x, unsigned char* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * threads_per_block * per_thread;
// lesson: open
    // Buffers begin at multiples of 16 bytes, so that every vector is aligned.
    const long long i = first + static_cast<long long>(threadIdx.x) * per_thread;
    if (i + per_thread <= n) {
        const uint4 v = *reinterpret_cast<const uint4*>(x + i);
        // The complement of a byte is 255 minus the byte.
        *reinterpret_cast<uint4*>(y + i) = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
    } else {
        for (long long j = i; j < n; ++j) {
            y[j] = 255 - x[j];
        }
    }
// lesson: locked
}
