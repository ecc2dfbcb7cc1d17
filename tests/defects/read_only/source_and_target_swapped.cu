// The call of a helper swaps its source and its target.
// launch: grid=1 block=32
// arg: in:i32[32]=iota
// arg: buf:i32[32]=0
// expect: 1[7] = 7
__device__ __noinline__ void copy_bad(int* dst, const int* src) {
    dst[threadIdx.x] = src[threadIdx.x]; // FAULT: read_only_write
}

extern "C" __global__ void defect(int* in, int* out) {
    copy_bad(in, out);
}

extern "C" __global__ void fixed(int* in, int* out) {
    copy_bad(out, in);
}
