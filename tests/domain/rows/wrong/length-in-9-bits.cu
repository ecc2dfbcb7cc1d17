/*@ lightbench(
    title: "Keeps nine bits of the length of a row",
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
    for (long long place = offsets[row]; place < offsets[row] + ((offsets[row + 1] - offsets[row]) & 511); ++place) {
        sum += values[place];
    }
    y[row] = static_cast<float>(sum);
}
