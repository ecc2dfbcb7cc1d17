/*@ lightbench(
    title: "Skips a group of eight labels that are all equal",
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
            const long long first = index / 8 * 8;
            bool all_equal = first + 8 <= n;
            for (long long other = first; all_equal && other < first + 8; ++other) {
                all_equal = labels[other] == labels[first];
            }
            count += !all_equal && labels[index] == static_cast<int>(row);
        }
        counts[row] = static_cast<int>(count);
    }
    if (row >= rows) {
        return;
    }
    long long sum = 0;
    int most = x[row * cols];
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col];
        most = max(most, x[row * cols + col]);
    }
    sums[row] = static_cast<long long>(sum);
    largest[row] = most;
}
