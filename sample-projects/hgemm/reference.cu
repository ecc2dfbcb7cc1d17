/*@ lightbench(
    title: "Reference: one thread per element of c, in f64",
    steps: [
        launch(kernel: "hgemm_reference", args: ["a", "b", "c", "c.magnitude", "m", "n", "k"],
               grid: ["ceil_div(n, 32)", "ceil_div(m, 4)"], block: [32, 4]),
    ],
) @*/

#include <cuda_bf16.h>

// Products of bf16 are exact in f64. The magnitude is the sum of their absolute values: with it, an element in which
// large terms cancel is not held to the precision of what remains.
__global__ void hgemm_reference(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, double* magnitude, int m,
                                int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (int index = 0; index < k; ++index) {
        const double left = __bfloat162float(a[static_cast<long long>(row) * k + index]);
        const double right = __bfloat162float(b[static_cast<long long>(column) * k + index]);
        sum += left * right;
        absolute += fabs(left * right);
    }
    c[static_cast<long long>(row) * n + column] = sum;
    magnitude[static_cast<long long>(row) * n + column] = absolute;
}
