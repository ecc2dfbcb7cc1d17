/*@ lightbench(
    title: "Says that its sum is ready before it has arrived",
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

// The mistake: sum and flag are two words (in `look-back` they are one), and no `__threadfence()` stands between the
// two writes, nor between the two reads.
// How it shows: almost never; both words usually arrive in order. When they do not, everything behind that tile is
// wrong.

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
            while (*reinterpret_cast<volatile unsigned int*>(ready + ticket - 1) == 0) {
            }
            before_tile = prefixes[ticket - 1];
        }
        prefixes[ticket] = before_tile + sums[255];
        *reinterpret_cast<volatile unsigned int*>(ready + ticket) = 1;
    }
    __syncthreads();
    if (index < n) {
        y[index] = static_cast<int>(before_tile + sums[threadIdx.x]);
    }
}
