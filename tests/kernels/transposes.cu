// Matrix transposes: in place for squares, through a padded tile with loops, and by float4 through a swizzled tile.
#define TILE_DIM 32
#define BLOCK_ROWS 8

extern "C" __global__ void transpose_padded(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;  // transpose block offset
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_in_place(unsigned short* m, int n) {
    __shared__ unsigned short a[16][17], b[16][17];
    if (blockIdx.y > blockIdx.x) return;
    int x = threadIdx.x, y = threadIdx.y, bx = blockIdx.x * 16, by = blockIdx.y * 16;
    a[y][x] = m[(by + y) * n + bx + x];
    b[y][x] = m[(bx + y) * n + by + x];
    __syncthreads();
    m[(by + y) * n + bx + x] = b[x][y];
    if (bx != by) m[(bx + y) * n + by + x] = a[x][y];
}

// 16 x 16 float4: rows of 64 floats; the quad of a row is stored at quad ^ row / 4 so that columns come without conflicts.
extern "C" __global__ void __launch_bounds__(256) transpose_swizzled(const float4* __restrict__ in, float4* __restrict__ out, int n4) {
    __shared__ float4 tile[64][16];
    const int quad = threadIdx.x & 15, row0 = threadIdx.x >> 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int row = row0 + 16 * i;
        tile[row][quad ^ (row >> 2)] = in[(blockIdx.y * 64 + row) * n4 + blockIdx.x * 16 + quad];
    }
    __syncthreads();
    const float* t = &tile[0][0].x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int column = row0 + 16 * i;  // a column of the tile becomes a row
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            int row = quad * 4 + k;
            v[k] = t[row * 64 + (((column >> 2) ^ (row >> 2)) << 2) + (column & 3)];
        }
        out[(blockIdx.x * 64 + column) * n4 + blockIdx.y * 16 + quad] = make_float4(v[0], v[1], v[2], v[3]);
    }
}
