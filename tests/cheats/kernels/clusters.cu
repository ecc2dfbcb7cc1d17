/*@ lightbench(
    title: "Clusters of two blocks, which count their rows together",
    steps: [
        launch(kernel: "product", grid: ["2 * ceil_div(rows, 128)"], block: [64], cluster: [2]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    unsigned cluster, rank;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const long long row = cluster * 128LL + rank * 64 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
