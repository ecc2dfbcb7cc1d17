// A tile is transposed in place with one barrier.
// launch: grid=1 block=16,16
// arg: buf:f32[256]=iota
// expect: 0[1] = 16
extern "C" __global__ void defect(float* m) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = m[y * 16 + x];
    __syncthreads();
    tile[x][y] = tile[y][x]; // FAULT: data_race
    __syncthreads();
    m[y * 16 + x] = tile[y][x];
}

extern "C" __global__ void fixed(float* m) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = m[y * 16 + x];
    __syncthreads();
    m[y * 16 + x] = tile[x][y];
}
