/*@ lightbench(
    title: "Copies by every thread",
    steps: [launch(kernel: "copy", grid: ["n // 1024"], block: [256])],
) @*/
__global__ void copy(const float4* __restrict__ x, float4* __restrict__ y, int n) {
    __shared__ float4 tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(x + i) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    y[i] = tile[255 - threadIdx.x];
}
