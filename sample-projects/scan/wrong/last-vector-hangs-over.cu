/*@ lightbench(
    title: "Reads and writes whole vectors",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "scan", grid: [1], block: [32]),
    ],
) @*/

// The mistake: one warp, four elements a lane, and a guard that tests the first of the four.
// How it shows: up to twelve bytes beyond the end of both buffers. Every element of the result is right.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    unsigned int carry = 0;
    for (long long first = 0; first < n; first += 128) {
        const long long index = first + 4 * threadIdx.x;
        int4 values = index < n ? *reinterpret_cast<const int4*>(x + index) : make_int4(0, 0, 0, 0);
        values.y += values.x;
        values.z += values.y;
        values.w += values.z;
        unsigned int sum = static_cast<unsigned int>(values.w);
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned int before = __shfl_up_sync(0xffffffffu, sum, distance);
            sum += threadIdx.x >= distance ? before : 0u;
        }
        const int before = static_cast<int>(carry + sum - static_cast<unsigned int>(values.w));
        if (index < n) {
            *reinterpret_cast<int4*>(y + index) =
                make_int4(before + values.x, before + values.y, before + values.z, before + values.w);
        }
        carry += __shfl_sync(0xffffffffu, sum, 31);
    }
}
