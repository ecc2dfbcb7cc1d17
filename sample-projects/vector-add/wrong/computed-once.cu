/*@ lightbench(
    title: "Remembers that it has already run",
    expect: refused(device_globals),
    steps: [
        launch(kernel: "vector_add", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: a `__device__` counter survives the launch, and the work is done only while it is small:
// fast in every timing loop that launches twice on the same buffers.
// How it shows: before anything runs. A kernel whose answer may depend on earlier launches is refused
// for storing to device globals; if it ran, it would leave its output unwritten.

__device__ unsigned int blocks_seen;

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           long long n) {
    __shared__ bool already_done;
    if (threadIdx.x == 0) {
        already_done = atomicAdd(&blocks_seen, 1u) >= gridDim.x;
    }
    __syncthreads();
    if (already_done) {
        return;
    }
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        c[index] = a[index] + b[index];
    }
}
