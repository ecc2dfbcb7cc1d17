/*@ lightbench(
    title: "Reference: one thread per element of c, in f64",
    steps: [
        launch(kernel: "grouped_gemm_reference",
               args: ["a", "offsets", "b", "c", "c.magnitude", "tokens", "groups", "n", "k"],
               grid: ["ceil_div(n, 32)", "ceil_div(tokens, 4)"], block: [32, 4]),
    ],
) @*/

#include <cuda_bf16.h>

// Products of bf16 are exact in f64. The magnitude is the sum of their absolute values.
__global__ void grouped_gemm_reference(const __nv_bfloat16* a, const int* offsets, const __nv_bfloat16* b, double* c,
                                       double* magnitude, int tokens, int groups, int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row >= tokens || column >= n) {
        return;
    }
    int group = 0;
    while (group < groups - 1 && row >= offsets[group + 1]) {
        ++group;
    }
    const __nv_bfloat16* const right = b + (static_cast<long long>(group) * n + column) * k;
    double sum = 0.0;
    double absolute = 0.0;
    for (int index = 0; index < k; ++index) {
        const double product =
            static_cast<double>(__bfloat162float(a[static_cast<long long>(row) * k + index])) *
            __bfloat162float(right[index]);
        sum += product;
        absolute += fabs(product);
    }
    c[static_cast<long long>(row) * n + column] = sum;
    magnitude[static_cast<long long>(row) * n + column] = absolute;
}
