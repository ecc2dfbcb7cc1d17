/*@ lightbench(
    title: "Constants that every lane indexes apart",
    steps: [launch(kernel: "look_up", grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__constant__ const float table[8] = {1, 2, 3, 5, 8, 13, 21, 34};

__global__ void look_up(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * table[threadIdx.x & 7];
    }
}
