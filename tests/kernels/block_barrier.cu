// cuda::barrier between a half that writes and a half that reads, over several phases.
#include <cuda/barrier>
extern "C" __global__ void block_barrier(const int* x, int* y, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    __shared__ int s[64];
    if (threadIdx.x == 0) { init(&full, 128); init(&empty, 128); }
    __syncthreads();
    bool writes = threadIdx.x < 64;
    int t = threadIdx.x % 64;
    for (int r = 0; r < rounds; r++) {
        if (writes) { s[t] = x[r * 64 + t]; auto token = full.arrive(); empty.wait(empty.arrive()); (void)token; }
        else { full.arrive_and_wait(); y[r * 64 + t] = s[63 - t]; empty.arrive_and_wait(); }
    }
}
