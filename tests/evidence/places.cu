// Where a thread runs is no clock.
// candidate: inline_assembly

extern "C" __global__ void k(unsigned *out) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    out[threadIdx.x] = multiprocessor + blockIdx.x;
}
