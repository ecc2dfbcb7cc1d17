/*@ lightbench(
    title: "Stops when a term is small",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "polynomial", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: the loop ends after 16 terms, whatever the degree is.
// How it shows: for a large degree the remaining terms exceed the bound.

__global__ void polynomial(const float* __restrict__ x, float* __restrict__ y, long long n, int degree) {
    const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float half = 0.5f * x[i];
    float sum = 1.0f;
    for (int power = 0; power < min(degree, 16); ++power) {
        sum = fmaf(sum, half, 1.0f);
    }
    y[i] = sum;
}
