// The row stride is the height of the image instead of its width.
// launch: grid=3,2 block=16,16 also=80,100
// arg: in:u8[1440]=iota%251
// arg: buf:u8[1440]
// arg: i32:36
// arg: i32:40
// expect: 1[1439] = 71
__device__ unsigned char invert(unsigned char v) { return 255 - v; }

extern "C" __global__ void defect(const unsigned char* src, unsigned char* dst, int rows, int cols) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    // The grid covers 48 by 32, so rows above 31 stay untouched; the caller loops.
    for (int r = y; r < cols; r += gridDim.y * blockDim.y) {
        if (x < rows) {
            dst[r * cols + x] = invert(src[r * cols + x]); // FAULT: out_of_bounds
        }
    }
}

extern "C" __global__ void fixed(const unsigned char* src, unsigned char* dst, int rows, int cols) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int r = y; r < rows; r += gridDim.y * blockDim.y) {
        if (x < cols) {
            dst[r * cols + x] = invert(src[r * cols + x]);
        }
    }
}
