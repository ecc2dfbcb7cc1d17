/*@ lightbench(
    title: "Waits with a load that the compiler moves out of the loop",
    expect: fault(data_race),
    scratch: [
        (name: "tickets", dtype: u32, shape: ["1"], init: zero_each_launch),
        (name: "prefixes", dtype: u32, shape: ["ceil_div(n, 256)"], init: undefined),
        (name: "ready", dtype: u32, shape: ["ceil_div(n, 256)"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "scan", args: ["x", "y", "tickets", "prefixes", "ready", "n"], grid: ["ceil_div(n, 256)"],
               block: [256]),
    ],
) @*/

// The mistake: the flag is neither volatile nor atomic, so nothing in the loop can change it as far as the compiler
// knows: it is loaded once, in front of the loop, and what remains is an empty loop that may run forever.
// How it shows: tiles whose turn comes late find the flag set at their only look, and everything is right. A tile that
// is early never ends. What is wrong in any case: two blocks use one word, and one of them writes, without an order.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, unsigned int* tickets, unsigned int* prefixes,
                     unsigned int* ready, long long n) {
    __shared__ unsigned int sums[256];
    __shared__ unsigned int ticket;
    __shared__ unsigned int before_tile;
    if (threadIdx.x == 0) {
        ticket = atomicAdd(tickets, 1u);
    }
    __syncthreads();
    const long long index = ticket * 256LL + threadIdx.x;
    sums[threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        const unsigned int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0u;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        before_tile = 0;
        if (ticket > 0) {
            while (ready[ticket - 1] == 0) {
            }
            __threadfence();
            before_tile = prefixes[ticket - 1];
        }
        prefixes[ticket] = before_tile + sums[255];
        __threadfence();
        ready[ticket] = 1;
    }
    __syncthreads();
    if (index < n) {
        y[index] = static_cast<int>(before_tile + sums[threadIdx.x]);
    }
}
