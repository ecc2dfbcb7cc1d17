// A matrix is transposed in place by all threads at once.
// launch: grid=2,2 block=8,8
// arg: buf:i32[256]=iota
// expect: 0[1] = 16
extern "C" __global__ void defect(int* m) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int v = m[y * 16 + x]; // OTHER
    m[x * 16 + y] = v; // FAULT: data_race
}

extern "C" __global__ void fixed(int* m) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x > y) {
        int a = m[y * 16 + x], b = m[x * 16 + y];
        m[x * 16 + y] = a;
        m[y * 16 + x] = b;
    }
}
