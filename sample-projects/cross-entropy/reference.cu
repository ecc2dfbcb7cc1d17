/*@ lightbench(
    title: "Reference: one thread per row, two passes, in f64",
    steps: [
        launch(kernel: "cross_entropy_reference", args: ["logits", "labels", "loss", "loss.magnitude", "rows", "classes"],
               grid: ["ceil_div(rows, 32)"], block: [32]),
    ],
) @*/

#include <cuda_bf16.h>

// loss = log(sum) + (max - x[label]) with sum = sum of exp(x - max). The terms: the distance of the label from the
// maximum; the sum, whose relative error is the absolute error of its logarithm, so 1; and in it each exponential,
// which is as good as its argument, so |x - max| weighted by its share of the sum.
//
// The maximum itself is no term. Adding the same number to all logits changes nothing, and a kernel that computes
// (max + log(sum)) - x[label] pays for large logits with digits that nobody has to give up.
__global__ void cross_entropy_reference(const __nv_bfloat16* logits, const int* labels, double* loss,
                                        double* magnitude, long long rows, long long classes) {
    const long long row = blockIdx.x * 32LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const __nv_bfloat16* x_row = logits + row * classes;
    double max = __bfloat162float(x_row[0]);
    for (long long col = 1; col < classes; ++col) {
        max = fmax(max, static_cast<double>(__bfloat162float(x_row[col])));
    }
    double sum = 0.0;
    double weighted = 0.0;
    for (long long col = 0; col < classes; ++col) {
        const double difference = static_cast<double>(__bfloat162float(x_row[col])) - max;
        const double exponential = exp(difference);
        sum += exponential;
        weighted += exponential * fabs(difference);
    }
    const double distance = max - static_cast<double>(__bfloat162float(x_row[labels[row]]));
    loss[row] = log(sum) + distance;
    magnitude[row] = 1.0 + log(sum) + distance + weighted / sum;
}
