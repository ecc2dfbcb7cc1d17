/*@ lightbench(
    title: "Adds in fixed point with one global scale",
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
    long long sum = 0;
    const long long mean = nnz / rows;
    for (long long place = offsets[row]; place < offsets[row + 1]; ++place) {
        sum += __float2ll_rn(values[place] * 4294967296.0f);
    }
    y[row] = static_cast<float>(static_cast<double>(sum) / 4294967296.0);
}
