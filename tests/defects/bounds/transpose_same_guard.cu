// A transpose of a matrix that is not square guards the write with the sizes of the read.
// launch: grid=2,3 block=8,8
// arg: in:f32[240]=iota
// arg: buf:f32[240]
// arg: i32:12
// arg: i32:20
// expect: 1[1] = 12
#define TILE 8
extern "C" __global__ void defect(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    int tx = blockIdx.y * TILE + threadIdx.x, ty = blockIdx.x * TILE + threadIdx.y;
    if (tx < width && ty < height)
        out[ty * height + tx] = tile[threadIdx.x][threadIdx.y]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    int tx = blockIdx.y * TILE + threadIdx.x, ty = blockIdx.x * TILE + threadIdx.y;
    if (tx < height && ty < width)
        out[ty * height + tx] = tile[threadIdx.x][threadIdx.y];
}
