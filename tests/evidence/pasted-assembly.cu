// The word `asm` made by a macro.
// candidate: inline_assembly

#define PASTE(a, b) a##b

extern "C" __global__ void k(unsigned *out) {
    unsigned lane;
    PASTE(as, m)("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[threadIdx.x] = lane;
}
