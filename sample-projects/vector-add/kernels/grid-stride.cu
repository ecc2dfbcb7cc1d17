/*@ lightbench(
    title: "Grid-stride loop, four elements in flight per thread",
    params: { "BLOCK": [256, 128, 512, 1024], "BLOCKS_PER_SM": [8, 4, 16, 32] },
    require: ["BLOCK * BLOCKS_PER_SM <= 8192"],
    steps: [
        launch(kernel: "vector_add<PARAM_BLOCK>",
               grid: ["min(ceil_div(n, BLOCK), BLOCKS_PER_SM * device.sms)"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: the grid is sized by the GPU, not by the problem, and each thread walks through the
// vectors in steps of the whole grid. Index arithmetic and block start-up are paid once per thread
// instead of once per element, and the loads of four steps are in flight together.

constexpr int steps_in_flight = 4;

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long n) {
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    long long index = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;

    // All loads of a round come before its first store. The compiler would be free to do this by itself
    // (the pointers are __restrict__), but the order of a loop whose end it does not know is its choice.
    for (; index + (steps_in_flight - 1) * stride < n; index += steps_in_flight * stride) {
        float left[steps_in_flight];
        float right[steps_in_flight];
#pragma unroll
        for (int step = 0; step < steps_in_flight; ++step) {
            left[step] = a[index + step * stride];
            right[step] = b[index + step * stride];
        }
#pragma unroll
        for (int step = 0; step < steps_in_flight; ++step) {
            c[index + step * stride] = left[step] + right[step];
        }
    }
    // At most three more steps. Left to itself, the compiler unrolls this loop too, and divides n by the
    // stride to do so: a 64-bit division in every thread.
#pragma unroll 1
    for (; index < n; index += stride) {
        c[index] = a[index] + b[index];
    }
}
