/*@ lightbench(
    title: "16-byte accesses on both sides, 4 x 4 words turned in registers",
    params: { "TILE": [64, 32] },
    steps: [
        launch(kernel: "transpose<PARAM_TILE>", grid: ["ceil_div(cols, TILE) * ceil_div(rows, TILE)"], block: [256]),
    ],
) @*/

// Against `padded`: a thread reads four words of each of four rows, turns the 4 x 4 square in its registers, and
// hands 16-byte vectors to shared memory; out of it come vectors again. A quarter of the instructions everywhere.
// Padding does not help vectors (they must stay aligned), so the squares of a tile change places instead: those of
// tile column j are rotated by j, which spreads rows and columns alike over the banks.
//
// Rows of x and y begin at multiples of 16 bytes only if cols and rows are multiples of four. Elsewhere the same
// kernel moves single words.

template <int TILE>
__device__ void transpose_words(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                                long long cols, long long first_row, long long first_col, unsigned int* tile) {
    for (int word = threadIdx.x; word < TILE * TILE; word += 256) {
        const int row = word / TILE;
        const int col = word % TILE;
        if (first_row + row < rows && first_col + col < cols) {
            tile[row * TILE + (col + row) % TILE] = x[(first_row + row) * cols + first_col + col];
        }
    }
    __syncthreads();
    for (int word = threadIdx.x; word < TILE * TILE; word += 256) {
        const int row = word % TILE;
        const int col = word / TILE;
        if (first_row + row < rows && first_col + col < cols) {
            y[(first_col + col) * rows + first_row + row] = tile[row * TILE + (col + row) % TILE];
        }
    }
}

template <int TILE>
__device__ void transpose_vectors(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                                  long long cols, long long first_row, long long first_col, uint4* tile) {
    constexpr int squares = TILE / 4;  // along one side of the tile
    // tile[col][square] is four words of column `col` of x, that is of row `col` of y.
    for (int square = threadIdx.x; square < squares * squares; square += 256) {
        const int square_row = square / squares;
        const int square_col = square % squares;
        const long long row = first_row + 4 * square_row;
        const long long col = first_col + 4 * square_col;
        if (row < rows && col < cols) {
            uint4 in[4];
#pragma unroll
            for (int step = 0; step < 4; ++step) {
                in[step] = *reinterpret_cast<const uint4*>(x + (row + step) * cols + col);
            }
            uint4* out = tile + 4 * square_col * squares + (square_row + square_col) % squares;
            out[0] = make_uint4(in[0].x, in[1].x, in[2].x, in[3].x);
            out[squares] = make_uint4(in[0].y, in[1].y, in[2].y, in[3].y);
            out[2 * squares] = make_uint4(in[0].z, in[1].z, in[2].z, in[3].z);
            out[3 * squares] = make_uint4(in[0].w, in[1].w, in[2].w, in[3].w);
        }
    }
    __syncthreads();
    for (int vector = threadIdx.x; vector < TILE * squares; vector += 256) {
        const int col = vector / squares;
        const int square_row = vector % squares;
        if (first_row + 4 * square_row < rows && first_col + col < cols) {
            *reinterpret_cast<uint4*>(y + (first_col + col) * rows + first_row + 4 * square_row) =
                tile[col * squares + (square_row + col / 4) % squares];
        }
    }
}

template <int TILE>
__global__ void __launch_bounds__(256)
transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows, long long cols) {
    __shared__ uint4 tile[TILE * TILE / 4];
    const unsigned int tiles_per_row = static_cast<unsigned int>((cols + TILE - 1) / TILE);
    const long long first_col = static_cast<long long>(blockIdx.x % tiles_per_row) * TILE;
    const long long first_row = static_cast<long long>(blockIdx.x / tiles_per_row) * TILE;
    if (rows % 4 == 0 && cols % 4 == 0) {
        transpose_vectors<TILE>(x, y, rows, cols, first_row, first_col, tile);
    } else {
        transpose_words<TILE>(x, y, rows, cols, first_row, first_col, reinterpret_cast<unsigned int*>(tile));
    }
}
