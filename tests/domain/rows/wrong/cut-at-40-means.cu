/*@ lightbench(
    title: "Cuts rows at 40 times the mean length",
    expect: wrong,
    steps: [
        launch(kernel: "row_sums", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void row_sums(const int* offsets, const float* values, float* y, long long rows, long long nnz) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0;
    const long long mean = nnz / rows;
    for (long long place = offsets[row]; place < min(static_cast<long long>(offsets[row + 1]), offsets[row] + 40 * mean + 40); ++place) {
        sum += values[place];
    }
    y[row] = static_cast<float>(sum);
}
