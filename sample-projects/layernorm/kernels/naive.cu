/*@ lightbench(
    title: "One thread per row, three passes",
    params: { "BLOCK": [64, 32, 128, 256] },
    steps: [
        launch(kernel: "layernorm<PARAM_BLOCK>", grid: ["ceil_div(rows, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The definition, written down. Neighbouring threads stand in neighbouring rows, so a warp's load touches 32 lines
// for 128 useful bytes, and x is read three times.

// Compensated (Kahan) summation: one plain chain of up to 16,384 additions would lose every small term that comes
// after a large one. The trees of the faster kernels do not have this problem.
struct Sum {
    float value = 0.0f;
    float lost = 0.0f;

    __device__ void add(float term) {
        const float corrected = term - lost;
        const float next = value + corrected;
        lost = (next - value) - corrected;
        value = next;
    }
};

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
          float* __restrict__ y, long long rows, long long cols, float eps) {
    const long long row = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;
    const float count = static_cast<float>(cols);

    Sum sum;
    for (long long col = 0; col < cols; ++col) {
        sum.add(x_row[col]);
    }
    const float mean = sum.value / count;

    Sum squares;
    for (long long col = 0; col < cols; ++col) {
        const float difference = x_row[col] - mean;
        squares.add(difference * difference);
    }
    const float scale = rsqrtf(squares.value / count + eps);

    for (long long col = 0; col < cols; ++col) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
