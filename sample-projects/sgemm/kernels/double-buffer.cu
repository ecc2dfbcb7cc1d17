/*@ lightbench(
    title: "The next tiles are loaded while this one is multiplied",
    params: { "TILE": [128, 64] },
    steps: [
        launch(kernel: "sgemm<PARAM_TILE>", grid: ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
               block: ["TILE * TILE / 64"]),
    ],
) @*/

// Against `register-tile`: a block of that kernel waits for memory, then multiplies, then waits again. Here each thread
// starts the loads of the next tiles before it multiplies, keeps what arrives in registers, and puts it into a second
// pair of tiles afterwards: one barrier for each step along k instead of two, and memory works meanwhile. Where rows
// are multiples of 16 bytes, a thread's share of a tile is one vector (or two) of each matrix.

template <int TILE>
__device__ int place_of(int thread, int index) {
    return index / 4 * (TILE / 2) + thread * 4 + index % 4;
}

// Four neighbours of a row; zeros where they lie outside the matrix.
__device__ float4 four_of(const float* __restrict__ matrix, int row, int col, int rows, int cols) {
    const float* from = matrix + static_cast<long long>(row) * cols + col;
    if (row < rows && col + 4 <= cols && cols % 4 == 0) {
        return *reinterpret_cast<const float4*>(from);
    }
    const int inside = row < rows ? cols - col : 0;
    return make_float4(inside > 0 ? from[0] : 0.0f, inside > 1 ? from[1] : 0.0f, inside > 2 ? from[2] : 0.0f,
                       inside > 3 ? from[3] : 0.0f);
}

template <int TILE>
struct Tiles {
    static constexpr int depth = 8;
    static constexpr int threads = TILE * TILE / 64;
    static constexpr int vectors = TILE * depth / 4 / threads;  // of each matrix, for each thread
    float a[depth][TILE + 4];                                   // [k][row], padded as in `register-tile`
    float b[depth][TILE];                                       // [k][column]
};

template <int TILE>
__global__ void __launch_bounds__(Tiles<TILE>::threads)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    using Pair = Tiles<TILE>;
    constexpr int threads = Pair::threads;
    constexpr int depth = Pair::depth;
    constexpr int vectors = Pair::vectors;
    constexpr int threads_per_row = TILE / 8;
    __shared__ __align__(16) Pair tiles[2];
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;
    const int thread_row = threadIdx.x / threads_per_row;
    const int thread_col = threadIdx.x % threads_per_row;

    float4 a_next[vectors];
    float4 b_next[vectors];
    const auto load = [&](int first) {
#pragma unroll
        for (int step = 0; step < vectors; ++step) {
            const int vector = step * threads + threadIdx.x;
            a_next[step] = four_of(a, first_row + vector / (depth / 4), first + vector % (depth / 4) * 4, m, k);
            b_next[step] = four_of(b, first + vector / (TILE / 4), first_col + vector % (TILE / 4) * 4, k, n);
        }
    };
    const auto store = [&](Pair& pair) {
#pragma unroll
        for (int step = 0; step < vectors; ++step) {
            const int vector = step * threads + threadIdx.x;
            const int a_row = vector / (depth / 4);
            const int a_col = vector % (depth / 4) * 4;
            pair.a[a_col][a_row] = a_next[step].x;
            pair.a[a_col + 1][a_row] = a_next[step].y;
            pair.a[a_col + 2][a_row] = a_next[step].z;
            pair.a[a_col + 3][a_row] = a_next[step].w;
            *reinterpret_cast<float4*>(&pair.b[vector / (TILE / 4)][vector % (TILE / 4) * 4]) = b_next[step];
        }
    };

    float sums[8][8] = {};
    load(0);
    store(tiles[0]);
    __syncthreads();
    int current = 0;
    for (int first = 0; first < k; first += depth) {
        if (first + depth < k) {
            load(first + depth);
        }
        const Pair& pair = tiles[current];
#pragma unroll
        for (int index = 0; index < depth; ++index) {
            float a_part[8];
            float b_part[8];
#pragma unroll
            for (int half = 0; half < 8; half += 4) {
                *reinterpret_cast<float4*>(a_part + half) =
                    *reinterpret_cast<const float4*>(&pair.a[index][place_of<TILE>(thread_row, half)]);
                *reinterpret_cast<float4*>(b_part + half) =
                    *reinterpret_cast<const float4*>(&pair.b[index][place_of<TILE>(thread_col, half)]);
            }
#pragma unroll
            for (int row = 0; row < 8; ++row) {
#pragma unroll
                for (int col = 0; col < 8; ++col) {
                    sums[row][col] += a_part[row] * b_part[col];
                }
            }
        }
        // The other pair was last read before the barrier of the turn before: it is free.
        current ^= 1;
        if (first + depth < k) {
            store(tiles[current]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int row = 0; row < 8; ++row) {
        const int c_row = first_row + place_of<TILE>(thread_row, row);
#pragma unroll
        for (int half = 0; half < 8; half += 4) {
            const int c_col = first_col + place_of<TILE>(thread_col, half);
            float* to = c + static_cast<long long>(c_row) * n + c_col;
            if (c_row < m && c_col < n && n % 4 == 0) {
                *reinterpret_cast<float4*>(to) =
                    make_float4(sums[row][half], sums[row][half + 1], sums[row][half + 2], sums[row][half + 3]);
            } else if (c_row < m) {
#pragma unroll
                for (int col = 0; col < 4; ++col) {
                    if (c_col + col < n) {
                        to[col] = sums[row][half + col];
                    }
                }
            }
        }
    }
}
