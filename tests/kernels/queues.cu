// Work that threads hand to each other: a bounded ring with tickets, a stack by compare-and-swap, a ticket lock, and a
// stream compaction that takes places for a whole warp at once.
#include <cuda/atomic>

using counter = cuda::atomic<unsigned, cuda::thread_scope_device>;
struct Slot { unsigned turn; int value; };

// Even blocks produce, odd blocks consume; slot i is free for turn 2k and full for turn 2k + 1.
extern "C" __global__ void ring_queue(Slot* ring, unsigned* tickets, const int* in, int* out, int per_block, int capacity) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> head(tickets[0]), tail(tickets[1]);
    if (threadIdx.x != 0) return;
    bool produces = blockIdx.x % 2 == 0;
    for (int i = 0; i < per_block; i++) {
        unsigned ticket = produces ? head.fetch_add(1, cuda::memory_order_relaxed) : tail.fetch_add(1, cuda::memory_order_relaxed);
        Slot& slot = ring[ticket % capacity];
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> turn(slot.turn);
        unsigned mine = 2 * (ticket / capacity) + (produces ? 0 : 1);
        while (turn.load(cuda::memory_order_acquire) != mine) __nanosleep(20);
        if (produces) slot.value = in[blockIdx.x / 2 * per_block + i];
        else out[ticket] = slot.value;
        turn.store(mine + 1, cuda::memory_order_release);
    }
}

struct Node { int value; int next; };

extern "C" __global__ void push_all(Node* nodes, unsigned long long* top, const int* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    nodes[i].value = values[i];
    unsigned long long old = *(volatile unsigned long long*)top, assumed;
    do {  // a generation above the index, against ABA
        assumed = old;
        nodes[i].next = (int)(unsigned)assumed;
        __threadfence();
        old = atomicCAS(top, assumed, ((assumed >> 32) + 1) << 32 | (unsigned)i);
    } while (old != assumed);
}

extern "C" __global__ void ticket_lock(counter* next, counter* serving, int* value, int* order) {
    if (threadIdx.x % 32 != 0) return;
    unsigned mine = next->fetch_add(1, cuda::std::memory_order_relaxed);
    while (serving->load(cuda::std::memory_order_acquire) != mine) { }
    order[mine] = *value;
    *value = *value * 3 + 1;
    serving->store(mine + 1, cuda::std::memory_order_release);
}

extern "C" __global__ void compact(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : -1;
    bool keep = v >= 0;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int lane = threadIdx.x & 31, leader = __ffs(mask) - 1, base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffff, base, leader & 31);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = v;
}
