// CUB's block scan, reduction and radix sort of 128 keys.
#include <cub/block/block_scan.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_radix_sort.cuh>
extern "C" __global__ void cub_block(const unsigned* x, unsigned* sorted, unsigned* prefix, unsigned* sum) {
    using Scan = cub::BlockScan<unsigned, 64>;
    using Reduce = cub::BlockReduce<unsigned, 64>;
    using Sort = cub::BlockRadixSort<unsigned, 64, 2>;
    __shared__ union { Scan::TempStorage scan; Reduce::TempStorage reduce; Sort::TempStorage sort; } s;
    unsigned keys[2] = {x[threadIdx.x * 2], x[threadIdx.x * 2 + 1]}, p[2];
    Scan(s.scan).ExclusiveSum(keys, p);
    __syncthreads();
    unsigned total = Reduce(s.reduce).Sum(keys[0] + keys[1]);
    __syncthreads();
    Sort(s.sort).Sort(keys);
    for (int i = 0; i < 2; i++) { sorted[threadIdx.x * 2 + i] = keys[i]; prefix[threadIdx.x * 2 + i] = p[i]; }
    if (threadIdx.x == 0) *sum = total;
}
