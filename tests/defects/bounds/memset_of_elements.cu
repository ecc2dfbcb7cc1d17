// The size for `memset` is the number of elements times the size of a pointer.
// launch: grid=1 block=1 also=80
// arg: buf:i32[16]
// arg: i32:16
// expect: 0[15] = 0
extern "C" __global__ void defect(int* data, int n) {
    memset(data, 0, n * sizeof(data)); // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(int* data, int n) {
    memset(data, 0, n * sizeof(*data));
}
