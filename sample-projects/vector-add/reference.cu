/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "vector_add_reference", args: ["a", "b", "c", "c.magnitude", "n"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The sum of two floats is exact in f64 for all but extreme exponents. The magnitude of an element
// is |a| + |b|: what a rounding error of the inputs would be measured against when they cancel.
__global__ void vector_add_reference(const float* a, const float* b, double* c, double* magnitude, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        const double left = a[index];
        const double right = b[index];
        c[index] = left + right;
        magnitude[index] = fabs(left) + fabs(right);
    }
}
