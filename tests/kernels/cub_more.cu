// More of CUB's collectives: striped loads turned to blocked by exchange, a segmented maximum by a pair operator, a
// histogram, warp reductions and scans, sorting pairs downwards.
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

struct Segment { int flag; int value; };
struct SegmentedMax {
    __device__ Segment operator()(const Segment& a, const Segment& b) const {
        return {a.flag | b.flag, b.flag ? b.value : max(a.value, b.value)};
    }
};

extern "C" __global__ void __launch_bounds__(64) cub_segmented(const int* flags, const int* values, int* out, int n) {
    using Load = cub::BlockLoad<int, 64, 3, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, 64, 3, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<Segment, 64, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union { Load::TempStorage load; Store::TempStorage store; Scan::TempStorage scan; } temp;
    int f[3], v[3];
    Load(temp.load).Load(flags, f, n, 0);
    __syncthreads();
    Load(temp.load).Load(values, v, n, 0);
    __syncthreads();
    Segment s[3];
    for (int i = 0; i < 3; i++) s[i] = {f[i], v[i]};
    Scan(temp.scan).InclusiveScan(s, s, SegmentedMax());
    __syncthreads();
    for (int i = 0; i < 3; i++) v[i] = s[i].value;
    Store(temp.store).Store(out, v, n);
}

extern "C" __global__ void __launch_bounds__(128) cub_histogram_sort(const unsigned char* x, unsigned* bins, float* keys, int* values, int* warp_sums, int* warp_prefix) {
    using Histogram = cub::BlockHistogram<unsigned char, 128, 2, 16, cub::BLOCK_HISTO_ATOMIC>;
    using Sort = cub::BlockRadixSort<float, 128, 2, int>;
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    __shared__ union { Histogram::TempStorage histogram; Sort::TempStorage sort; Reduce::TempStorage reduce[4]; Scan::TempStorage scan[4]; } temp;
    __shared__ unsigned counts[16];
    int t = threadIdx.x, warp = t / 32;
    unsigned char items[2] = {x[2 * t], x[2 * t + 1]};
    Histogram(temp.histogram).Histogram(items, counts);
    __syncthreads();
    if (t < 16) bins[t] = counts[t];
    float k[2] = {keys[2 * t], keys[2 * t + 1]};
    int v[2] = {values[2 * t], values[2 * t + 1]};
    Sort(temp.sort).SortDescending(k, v);
    for (int i = 0; i < 2; i++) { keys[2 * t + i] = k[i]; values[2 * t + i] = v[i]; }
    __syncthreads();
    int sum = Reduce(temp.reduce[warp]).Sum(items[0]);
    if (t % 32 == 0) warp_sums[warp] = sum;
    __syncthreads();
    int prefix;
    Scan(temp.scan[warp]).ExclusiveSum((int)items[1], prefix);
    warp_prefix[t] = prefix;
}
