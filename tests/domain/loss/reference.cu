/*@ lightbench(
    title: "Reference: one thread for each row, in f64",
    steps: [
        launch(kernel: "loss", args: ["x", "labels", "loss", "loss.magnitude", "rows: i64", "classes: i64"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void loss(const float* x, const int* labels, double* loss, double* magnitude, long long rows,
                     long long classes) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* values = x + row * classes;
    double max = values[0];
    for (long long col = 1; col < classes; ++col) {
        max = fmax(max, static_cast<double>(values[col]));
    }
    double sum = 0.0;
    double weighted = 0.0;
    for (long long col = 0; col < classes; ++col) {
        const double difference = values[col] - max;
        const double exponential = exp(difference);
        sum += exponential;
        weighted += exponential * fabs(difference);
    }
    const double distance = max - values[labels[row]];
    loss[row] = log(sum) + distance;
    magnitude[row] = 1.0 + log(sum) + distance + weighted / sum;
}
