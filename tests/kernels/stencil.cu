// Jacobi step of the five-point stencil with halo, and the largest change by an atomic on bits.
extern "C" __global__ void stencil(const float* x, float* y, int* change, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i == 0 || j == 0 || i >= width - 1 || j >= height - 1) return;
    int k = j * width + i;
    float v = 0.25f * (x[k - 1] + x[k + 1] + x[k - width] + x[k + width]);
    y[k] = v;
    atomicMax(change, __float_as_int(fabsf(v - x[k])));
}
