/*@ lightbench(
    title: "One thread per row, two passes",
    params: { "BLOCK": [64, 32, 128] },
    steps: [
        launch(kernel: "cross_entropy<PARAM_BLOCK>", grid: ["ceil_div(rows, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The definition, written down: the maximum, then the sum. A warp's load touches 32 rows: 32 lines for 64 useful bytes.

#include <cuda_bf16.h>

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels, float* __restrict__ loss,
              long long rows, long long classes) {
    const long long row = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const __nv_bfloat16* x_row = logits + row * classes;
    float max = __bfloat162float(x_row[0]);
    for (long long col = 1; col < classes; ++col) {
        max = fmaxf(max, __bfloat162float(x_row[col]));
    }
    // Compensated (Kahan) summation: a chain of 262,144 additions would lose the small terms that come after large
    // ones.
    float sum = 0.0f;
    float lost = 0.0f;
    for (long long col = 0; col < classes; ++col) {
        const float term = expf(__bfloat162float(x_row[col]) - max) - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    loss[row] = logf(sum) + (max - __bfloat162float(x_row[labels[row]]));
}
