/*@ lightbench(
    title: "Reference: one thread per element of c, in f64",
    steps: [
        launch(kernel: "fp8_gemm_reference",
               args: ["a", "a_scale", "b", "b_scale", "c", "c.magnitude", "m", "n", "k"],
               grid: ["ceil_div(n, 32)", "ceil_div(m, 4)"], block: [32, 4]),
    ],
) @*/

#include <cuda_fp8.h>

// Products of e4m3 numbers are exact in f64. The magnitude is the sum of the absolute values of the scaled products.
__global__ void fp8_gemm_reference(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b,
                                   const float* b_scale, double* c, double* magnitude, int m, int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    const int blocks = (k + 127) / 128;
    const long long scales_of_block = (m + 3) / 4 * 4;
    double sum = 0.0;
    double absolute = 0.0;
    for (int block = 0; block < blocks; ++block) {
        double part = 0.0;
        double part_absolute = 0.0;
        for (int index = block * 128; index < min(k, block * 128 + 128); ++index) {
            const double left = static_cast<float>(a[static_cast<long long>(row) * k + index]);
            const double right = static_cast<float>(b[static_cast<long long>(column) * k + index]);
            part += left * right;
            part_absolute += fabs(left * right);
        }
        const double scale = static_cast<double>(a_scale[block * scales_of_block + row]) *
                             b_scale[static_cast<long long>(column / 128) * blocks + block];
        sum += scale * part;
        absolute += scale * part_absolute;
    }
    c[static_cast<long long>(row) * n + column] = sum;
    magnitude[static_cast<long long>(row) * n + column] = absolute;
}
