/*@ lightbench(
    title: "Keeps 16 bits of each value",
    expect: wrong,
    steps: [
        launch(kernel: "totals", grid: ["ceil_div(max(rows, 16), 64)"], block: [64]),
    ],
) @*/

__global__ void totals(const int* x, const int* labels, long long* sums, int* largest, int* counts, long long rows,
                       long long cols, long long n) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row < 16) {
        int count = 0;
        for (long long index = 0; index < n; ++index) {
            count += labels[index] == static_cast<int>(row);
        }
        counts[row] = static_cast<int>(count);
    }
    if (row >= rows) {
        return;
    }
    long long sum = 0;
    int most = x[row * cols];
    for (long long col = 0; col < cols; ++col) {
        sum += static_cast<short>(x[row * cols + col]);
        most = max(most, static_cast<short>(x[row * cols + col]));
    }
    sums[row] = static_cast<long long>(sum);
    largest[row] = most;
}
