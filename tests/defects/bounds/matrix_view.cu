// A view of a sub-matrix adds the offset of its first column twice.
// launch: grid=1 block=8,8 also=80,100
// arg: buf:f32[256]=iota
// expect: 0[255] = 510
struct View {
    float* data;
    int rows, cols, pitch;
    __device__ float& at(int r, int c) { return data[r * pitch + c]; }
};

template <typename T>
__device__ void double_all(T view, int r, int c) {
    if (r < view.rows && c < view.cols) {
        view.at(r, c) *= 2;
    }
}

extern "C" __global__ void defect(float* data) {
    View view{data + 8 * 16 + 8, 8, 8, 16};
    int r = threadIdx.y, c = 8 + threadIdx.x;
    float* cell = &view.data[r * view.pitch + c];
    *cell = *cell * 2; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(float* data) {
    View view{data + 8 * 16 + 8, 8, 8, 16};
    double_all(view, threadIdx.y, threadIdx.x);
}
