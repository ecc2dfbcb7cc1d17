// A pair of halves is loaded from an odd column.
// launch: grid=1 block=16
// arg: in:u16[34]=15360
// arg: buf:f32[16]
// expect: 1[3] = 2
#include <cuda_fp16.h>

extern "C" __global__ void defect(const __half* x, float* y) {
    const __half2 pair = *reinterpret_cast<const __half2*>(&x[2 * threadIdx.x + 1]); // FAULT: misaligned
    y[threadIdx.x] = __low2float(pair) + __high2float(pair);
}

extern "C" __global__ void fixed(const __half* x, float* y) {
    const __half2 pair = __halves2half2(x[2 * threadIdx.x + 1], x[2 * threadIdx.x + 2]);
    y[threadIdx.x] = __low2float(pair) + __high2float(pair);
}
