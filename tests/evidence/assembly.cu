// Assembly of the candidate's own: a macro's, and an empty one.
// candidate: inline_assembly

#define LANE(out) asm("mov.u32 %0, %%laneid;" : "=r"(out))

extern "C" __global__ void k(unsigned *out) {
    unsigned lane;
    LANE(lane);
    asm volatile("" ::: "memory");
    out[threadIdx.x] = lane;
}
