/*@ lightbench(
    title: "Adds exponentials in fixed point with 20 bits",
    expect: wrong,
    steps: [
        launch(kernel: "loss", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

#include <cmath>

__global__ void loss(const float* x, const int* labels, float* loss, long long rows, long long classes) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* values = x + row * classes;
    float max = values[0];
    for (long long col = 1; col < classes; ++col) {
        max = fmaxf(max, values[col]);
    }
    unsigned long long total = 0;
    for (long long col = 0; col < classes; ++col) {
        total += static_cast<unsigned long long>(expf(values[col] - max) * 1048576.0f);
    }
    const float sum = static_cast<float>(total) / 1048576.0f;
    loss[row] = logf(sum) + (max - values[labels[row]]);
}
