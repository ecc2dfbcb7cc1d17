/*@ lightbench(
    title: "Reference: 4,096 threads, then one, in f64",
    scratch: [
        (name: "partial", dtype: f64, shape: ["4096"], init: undefined),
        (name: "partial_magnitude", dtype: f64, shape: ["4096"], init: undefined),
    ],
    steps: [
        launch(kernel: "partial_sums", args: ["x", "partial", "partial_magnitude", "n"], grid: [32], block: [128]),
        launch(kernel: "total_sum", args: ["partial", "partial_magnitude", "total", "total.magnitude"],
               grid: [1], block: [1]),
    ],
) @*/

// A single chain of 2^28 additions would be the obvious reference, and take minutes. The magnitude is the sum of
// the absolute values: what a rounding error is measured against when positive and negative terms cancel.
__global__ void partial_sums(const float* x, double* partial, double* partial_magnitude, long long n) {
    const int thread = blockIdx.x * 128 + threadIdx.x;
    double sum = 0.0;
    double magnitude = 0.0;
    for (long long index = thread; index < n; index += 4096) {
        const double value = x[index];
        sum += value;
        magnitude += fabs(value);
    }
    partial[thread] = sum;
    partial_magnitude[thread] = magnitude;
}

__global__ void total_sum(const double* partial, const double* partial_magnitude, double* total,
                          double* total_magnitude) {
    double sum = 0.0;
    double magnitude = 0.0;
    for (int thread = 0; thread < 4096; ++thread) {
        sum += partial[thread];
        magnitude += partial_magnitude[thread];
    }
    *total = sum;
    *total_magnitude = magnitude;
}
