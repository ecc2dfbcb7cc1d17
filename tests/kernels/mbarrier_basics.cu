// arch: 80
// mbarrier by hand: initialise, arrive, test, and copies that arrive when they complete.
extern "C" __global__ void mbarrier_basics(const int* x, int* y) {
    __shared__ __align__(16) int s[32];
    __shared__ unsigned long long barrier;
    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier), d = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(64));
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(d), "l"(x + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b));
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b));
    unsigned done = 0, pending;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state));
    y[threadIdx.x] = s[31 - threadIdx.x] + (pending > 64);
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b));
}
