/*@ lightbench(
    title: "Reference: one warp per row, two passes, in f64",
    steps: [
        launch(kernel: "cross_entropy_reference",
               args: ["logits", "labels", "loss", "loss.magnitude", "rows", "classes"],
               grid: ["rows"], block: [32]),
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
    __shared__ double maxima[32];
    __shared__ double sums[32];
    __shared__ double weighted_sums[32];
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    double max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < classes; col += 32) {
        max = fmax(max, static_cast<double>(__bfloat162float(x_row[col])));
    }
    maxima[threadIdx.x] = max;
    __syncthreads();
    for (int thread = 0; thread < 32; ++thread) {
        max = fmax(max, maxima[thread]);
    }

    double sum = 0.0;
    double weighted = 0.0;
    for (long long col = threadIdx.x; col < classes; col += 32) {
        const double difference = static_cast<double>(__bfloat162float(x_row[col])) - max;
        const double exponential = exp(difference);
        sum += exponential;
        weighted += exponential * fabs(difference);
    }
    sums[threadIdx.x] = sum;
    weighted_sums[threadIdx.x] = weighted;
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    for (int thread = 1; thread < 32; ++thread) {
        sum += sums[thread];
        weighted += weighted_sums[thread];
    }
    const double distance = max - static_cast<double>(__bfloat162float(x_row[labels[blockIdx.x]]));
    loss[blockIdx.x] = log(sum) + distance;
    magnitude[blockIdx.x] = 1.0 + log(sum) + distance + weighted / sum;
}
