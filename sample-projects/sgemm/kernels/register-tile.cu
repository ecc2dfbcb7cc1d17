/*@ lightbench(
    title: "8 x 8 elements of c in the registers of each thread",
    params: { "TILE": [128, 64], "DEPTH": [8, 16] },
    steps: [
        launch(kernel: "sgemm<PARAM_TILE, PARAM_DEPTH>", grid: ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
               block: ["TILE * TILE / 64"]),
    ],
) @*/

// Against `shared-tile`: a thread computes 64 elements of c instead of one. For each step along k it reads 8 numbers
// of a and 8 of b, as four 16-byte vectors, and does 64 multiply-adds with them: four loads for 64, not two for one.
// This is the step that makes the arithmetic the limit.
//
// The tile of a is stored transposed, so that the 8 numbers of a thread lie side by side. A thread's rows and columns
// are two groups of four, half a tile apart: neighbouring threads then read neighbouring vectors, without conflicts.

template <int TILE>
__device__ int place_of(int thread, int index) {
    return index / 4 * (TILE / 2) + thread * 4 + index % 4;
}

template <int TILE, int DEPTH>
__global__ void __launch_bounds__(TILE* TILE / 64)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    constexpr int threads = TILE * TILE / 64;
    constexpr int threads_per_row = TILE / 8;
    // Four elements of padding: neighbours of a row of a, which go to different rows here, would otherwise meet in one
    // bank. Four, not one: vectors of 16 bytes must stay aligned.
    constexpr int a_stride = TILE + 4;
    __shared__ __align__(16) float a_tile[DEPTH][a_stride];  // [k][row]
    __shared__ __align__(16) float b_tile[DEPTH][TILE];      // [k][column]
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;
    const int thread_row = threadIdx.x / threads_per_row;
    const int thread_col = threadIdx.x % threads_per_row;

    float sums[8][8] = {};
    for (int first = 0; first < k; first += DEPTH) {
#pragma unroll
        for (int element = threadIdx.x; element < TILE * DEPTH; element += threads) {
            const int a_row = element / DEPTH;
            const int a_col = element % DEPTH;
            const bool in_a = first_row + a_row < m && first + a_col < k;
            a_tile[a_col][a_row] = in_a ? a[static_cast<long long>(first_row + a_row) * k + first + a_col] : 0.0f;
            const int b_row = element / TILE;
            const int b_col = element % TILE;
            const bool in_b = first + b_row < k && first_col + b_col < n;
            b_tile[b_row][b_col] = in_b ? b[static_cast<long long>(first + b_row) * n + first_col + b_col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int index = 0; index < DEPTH; ++index) {
            float a_part[8];
            float b_part[8];
#pragma unroll
            for (int half = 0; half < 8; half += 4) {
                *reinterpret_cast<float4*>(a_part + half) =
                    *reinterpret_cast<const float4*>(&a_tile[index][place_of<TILE>(thread_row, half)]);
                *reinterpret_cast<float4*>(b_part + half) =
                    *reinterpret_cast<const float4*>(&b_tile[index][place_of<TILE>(thread_col, half)]);
            }
#pragma unroll
            for (int row = 0; row < 8; ++row) {
#pragma unroll
                for (int col = 0; col < 8; ++col) {
                    sums[row][col] += a_part[row] * b_part[col];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int row = 0; row < 8; ++row) {
        const int c_row = first_row + place_of<TILE>(thread_row, row);
#pragma unroll
        for (int col = 0; col < 8; ++col) {
            const int c_col = first_col + place_of<TILE>(thread_col, col);
            if (c_row < m && c_col < n) {
                c[static_cast<long long>(c_row) * n + c_col] = sums[row][col];
            }
        }
    }
}
