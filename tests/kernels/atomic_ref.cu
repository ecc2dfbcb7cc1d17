// cuda::atomic_ref in every order and scope: a counter, a maximum of each block, and a message passed by release and acquire.
#include <cuda/atomic>
extern "C" __global__ void atomic_ref(int* counter, unsigned* highest, int* data, int* flag, int* seen) {
    cuda::atomic_ref<int, cuda::thread_scope_device> c(*counter);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> h(highest[blockIdx.x]);
    c.fetch_add(1, cuda::memory_order_relaxed);
    c.fetch_add(1, cuda::memory_order_acq_rel);
    h.fetch_max(threadIdx.x, cuda::memory_order_release);
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 42;
        f.store(1, cuda::memory_order_release);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        *seen = *data;
    }
    int expected = 0;
    cuda::atomic_ref<int, cuda::thread_scope_system>(counter[1]).compare_exchange_strong(expected, 5, cuda::memory_order_seq_cst);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
}
