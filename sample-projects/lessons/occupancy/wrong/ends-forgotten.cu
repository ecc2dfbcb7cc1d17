/*@ lightbench(
    title: "Does not load the elements beside the block",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "smooth", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: the first and the last element of the tile are read and never written.
// How it shows: the virtual GPU reports a read of shared memory that holds no value.

__global__ void smooth(const float* __restrict__ x, float* __restrict__ y, long long n) {
    __shared__ float tile[258];
    const int t = threadIdx.x;
    const long long i = blockIdx.x * 256LL + t;
    tile[t + 1] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) * (1.0f / 3.0f);
    }
}
