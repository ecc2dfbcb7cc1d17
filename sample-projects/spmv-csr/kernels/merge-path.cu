/*@ lightbench(
    title: "Equal shares of rows and elements for every thread (merge path)",
    params: { "ITEMS": [8, 4, 16], "BLOCK": [128, 64, 256] },
    scratch: [
        (name: "carry_row", dtype: i32, shape: ["ceil_div(rows + nnz, ITEMS)"], init: undefined),
        (name: "carry_value", dtype: f32, shape: ["ceil_div(rows + nnz, ITEMS)"], init: undefined),
    ],
    steps: [
        launch(kernel: "spmv_shares<PARAM_ITEMS, PARAM_BLOCK>",
               args: ["offsets", "indices", "values", "x", "y", "carry_row", "carry_value", "rows", "nnz"],
               grid: ["ceil_div(ceil_div(rows + nnz, ITEMS), BLOCK)"], block: ["BLOCK"]),
        launch(kernel: "add_carries<PARAM_BLOCK>",
               args: ["carry_row", "carry_value", "y", "rows", "ceil_div(rows + nnz, ITEMS): i32"],
               grid: ["ceil_div(ceil_div(rows + nnz, ITEMS), BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// Against all others: the work is the list of all elements merged with the list of all row ends, rows + nnz items, and
// every thread takes ITEMS of them, wherever that is (Merrill and Garland, 'Merge-based parallel sparse matrix-vector
// multiplication', 2016). One row of a million elements or a million empty rows: nobody has more to do than another.
//
// A thread finds its place by a binary search. A row that ends in its share it writes; the unfinished one at the end is
// a carry, which a second launch adds to the row.

// How many row ends come before item `diagonal` of the merged list; the rest of it are elements.
__device__ int rows_before(const int* __restrict__ offsets, int rows, int nnz, int diagonal) {
    int low = max(diagonal - nnz, 0);
    int high = min(diagonal, rows);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        // Row `middle` ends before element diagonal - 1 - middle: its end belongs before that element.
        if (offsets[middle + 1] <= diagonal - 1 - middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

template <int ITEMS, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
spmv_shares(const int* __restrict__ offsets, const int* __restrict__ indices, const float* __restrict__ values,
            const float* __restrict__ x, float* __restrict__ y, int* __restrict__ carry_row,
            float* __restrict__ carry_value, int rows, int nnz) {
    const int items = rows + nnz;
    const int thread = blockIdx.x * BLOCK + threadIdx.x;
    const int begin = thread * ITEMS;
    if (begin >= items) {
        return;
    }
    int row = rows_before(offsets, rows, nnz, begin);
    int place = begin - row;
    const int end = min(begin + ITEMS, items);
    float sum = 0.0f;
    for (int item = begin; item < end; ++item) {
        if (row < rows && place >= offsets[row + 1]) {
            y[row] = sum;
            sum = 0.0f;
            ++row;
        } else {
            sum += values[place] * x[indices[place]];
            ++place;
        }
    }
    carry_row[thread] = row;
    carry_value[thread] = sum;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
add_carries(const int* __restrict__ carry_row, const float* __restrict__ carry_value, float* __restrict__ y, int rows,
            int threads) {
    const int thread = blockIdx.x * BLOCK + threadIdx.x;
    // A share that ends with a row end carries nothing.
    if (thread < threads && carry_row[thread] < rows && carry_value[thread] != 0.0f) {
        atomicAdd(&y[carry_row[thread]], carry_value[thread]);
    }
}
