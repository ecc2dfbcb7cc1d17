/*@ lightbench(
    title: "One thread per element of c",
    steps: [
        launch(kernel: "hgemm", grid: ["ceil_div(n, 32)", "ceil_div(m, 8)"], block: [32, 8]),
    ],
) @*/

// Each thread reads a row of a and a row of b. The 32 threads of a warp share the row of a, but their rows of b are k
// elements apart: each load of b touches 32 sectors for 64 bytes.

#include <cuda_bf16.h>

__global__ void hgemm(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                      __nv_bfloat16* __restrict__ c, int m, int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (int index = 0; index < k; ++index) {
        sum += __bfloat162float(a[static_cast<long long>(row) * k + index]) *
               __bfloat162float(b[static_cast<long long>(column) * k + index]);
    }
    c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
