// A convolution does not clamp at the border of the image.
// launch: grid=2,2 block=16,8
// arg: in:f32[512]=1
// arg: buf:f32[512]
// expect: 1[0] = 4
// expect: 1[40] = 9
extern "C" __global__ void defect(const float* image, float* out) {
    const int W = 32, H = 16;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float acc = 0.f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            acc += image[(y + dy) * W + (x + dx)]; // FAULT: out_of_bounds
    out[y * W + x] = acc;
}

extern "C" __global__ void fixed(const float* image, float* out) {
    const int W = 32, H = 16;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float acc = 0.f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int yy = y + dy, xx = x + dx;
            if (yy >= 0 && yy < H && xx >= 0 && xx < W) acc += image[yy * W + xx];
        }
    out[y * W + x] = acc;
}
