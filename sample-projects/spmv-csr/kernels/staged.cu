/*@ lightbench(
    title: "Products into shared memory, then a thread per row (CSR-stream)",
    params: { "BLOCK": [256, 128, 512], "ROWS": [64, 32, 128] },
    require: ["ROWS <= BLOCK"],
    steps: [
        launch(kernel: "spmv<PARAM_BLOCK, PARAM_ROWS>", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, ROWS)"], block: ["BLOCK"]),
    ],
) @*/

// Against `vector`: a block takes ROWS rows and computes all their products side by side, whichever row they belong to,
// 1,024 at a time: loads are always coalesced and no lane is idle. Then each row adds up its part of what lies in
// shared memory (Greathouse and Daga, 'Efficient sparse matrix-vector multiplication on GPUs using the CSR storage
// format', 2014). Row lengths matter only inside shared memory.

constexpr int stage = 1024;

template <int BLOCK, int ROWS>
__global__ void __launch_bounds__(BLOCK)
spmv(const int* __restrict__ offsets, const int* __restrict__ indices, const float* __restrict__ values,
     const float* __restrict__ x, float* __restrict__ y, int rows) {
    __shared__ float products[stage];
    const int first_row = blockIdx.x * ROWS;
    const int last_row = min(first_row + ROWS, rows);
    const int begin = offsets[first_row];
    const int end = offsets[last_row];
    const int row = first_row + threadIdx.x;
    const bool has_row = threadIdx.x < ROWS && row < rows;
    const int row_begin = has_row ? offsets[row] : 0;
    const int row_end = has_row ? offsets[row + 1] : 0;

    float sum = 0.0f;
    for (int first = begin; first < end; first += stage) {
        for (int place = first + threadIdx.x; place < min(first + stage, end); place += BLOCK) {
            products[place - first] = values[place] * x[indices[place]];
        }
        __syncthreads();
        for (int place = max(row_begin, first); place < min(row_end, first + stage); ++place) {
            sum += products[place - first];
        }
        __syncthreads();
    }
    if (has_row) {
        y[row] = sum;
    }
}
