/*@ lightbench(
    title: "One thread for each element, in double",
    steps: [
        launch(
            kernel: "reference",
            args: ["x", "y", "z", "z.magnitude", "n", "a"],
            grid: ["ceil_div(n, 256)"],
            block: [256],
        ),
    ],
) @*/

// The outputs are double here, whatever the kernels write.
// z_magnitude is the sum of the magnitudes of the two terms: the tolerance scales with it.
__global__ void reference(
    const float* x, const float* y, double* z, double* z_magnitude, long long n, float a) {
    long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    double product = static_cast<double>(a) * static_cast<double>(x[i]);
    z[i] = product + y[i];
    z_magnitude[i] = fabs(product) + fabs(static_cast<double>(y[i]));
}
