/*@ lightbench(
    title: "One thread for each element",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "saxpy", grid: ["ceil_div(n, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

__global__ void saxpy(
    const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, long long n,
    float a) {
    long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = a * x[i] + y[i];
}
