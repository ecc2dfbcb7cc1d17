// Instructions of compute capability 9.0 for which CUDA C++ has no functions, for the kernels of these folders. PTX ISA,
// sections "mbarrier", "cp.async.bulk", "wgmma", "fence.proxy" and "barrier.cluster".
#pragma once

#include <cuda.h>

// A fault in one of these functions is reported at the line that calls it, as in a header of another project.
#line 9 "/hopper.cuh"

using Barrier = unsigned long long;

/// Two bf16 that are 1.
constexpr unsigned ones = 0x3f803f80;

__device__ __forceinline__ unsigned address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

// ---- barrier objects ----

__device__ __forceinline__ void init(Barrier* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void invalidate(Barrier* barrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(barrier)) : "memory");
}

__device__ __forceinline__ void fence_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}

__device__ __forceinline__ void arrive_expect(Barrier* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait(Barrier* barrier, unsigned parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(address(barrier)),
        "r"(parity)
        : "memory");
}

/// One barrier object for one arrival, initialised by thread 0 for the block.
__device__ __forceinline__ void begin(Barrier* barrier, unsigned arrivals = 1) {
    if (threadIdx.x == 0) {
        init(barrier, arrivals);
        fence_init();
    }
    __syncthreads();
}

// ---- bulk copies ----

__device__ __forceinline__ void load_bulk(void* to, const void* from, unsigned bytes, Barrier* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address(barrier))
                 : "memory");
}

__device__ __forceinline__ void load_multicast(void* to, const void* from, unsigned bytes, Barrier* barrier,
                                               unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
            address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address(barrier)), "h"(blocks)
        : "memory");
}

__device__ __forceinline__ void store_bulk(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(address(from)), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void add_bulk(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"(address(from)), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void commit_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most `groups` groups of this thread still read shared memory.
template <int groups>
__device__ __forceinline__ void wait_reads() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}

/// Waits until at most `groups` groups of this thread are incomplete.
template <int groups>
__device__ __forceinline__ void wait_stores() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory");
}

__device__ __forceinline__ void load_box(void* to, const CUtensorMap& map, int column, int row, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            address(to)),
        "l"(&map), "r"(column), "r"(row), "r"(address(barrier))
        : "memory");
}

__device__ __forceinline__ void store_box(const CUtensorMap& map, const void* from, int column, int row) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(column), "r"(row), "r"(address(from))
                 : "memory");
}

__device__ __forceinline__ void fence_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- products of a warpgroup ----

/// The descriptor of rows of 64 bf16, swizzled over 128 bytes.
__device__ __forceinline__ unsigned long long descriptor(const void* tile) {
    const unsigned long long start = (address(tile) & 0x3ffff) >> 4;
    return start | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ __forceinline__ void fence_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int groups>
__device__ __forceinline__ void wait_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/// d += a b for 64 rows of a and 8 columns of b, 16 deep.
__device__ __forceinline__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(a), "l"(b)
        : "memory");
}

/// The same with a in registers.
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
        : "memory");
}

/// Operands of products: 64 rows of a and 8 of b, of 64 bf16.
struct Operands {
    unsigned a[64 * 32];
    unsigned b[8 * 32];
};

/// Fills both operands with ones.
__device__ __forceinline__ void fill(Operands& operands) {
    for (int index = threadIdx.x; index < 64 * 32; index += blockDim.x) {
        operands.a[index] = ones;
    }
    for (int index = threadIdx.x; index < 8 * 32; index += blockDim.x) {
        operands.b[index] = ones;
    }
}

// ---- clusters ----

__device__ __forceinline__ unsigned rank_in_cluster() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_barrier() {
    cluster_arrive();
    cluster_wait();
}

/// The address of the same place in another block.
__device__ __forceinline__ unsigned address_at(const void* place, unsigned rank) {
    unsigned remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address(place)), "r"(rank));
    return remote;
}

__device__ __forceinline__ unsigned read_at(const unsigned* place, unsigned rank) {
    unsigned value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address_at(place, rank)) : "memory");
    return value;
}

__device__ __forceinline__ void write_at(unsigned* place, unsigned rank, unsigned value) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address_at(place, rank)), "r"(value) : "memory");
}

__device__ __forceinline__ void arrive_at(Barrier* barrier, unsigned rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address_at(barrier, rank)) : "memory");
}

/// Waits for arrivals and writes of the whole cluster.
__device__ __forceinline__ void wait_cluster(Barrier* barrier, unsigned parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(address(barrier)),
        "r"(parity)
        : "memory");
}

/// Stores a word with its bytes as transactions of a barrier object; both addresses are of another block.
__device__ __forceinline__ void store_async(unsigned to, unsigned value, unsigned barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value),
                 "r"(barrier)
                 : "memory");
}

/// Whether this lane is the one that acts for its warp.
__device__ __forceinline__ bool elected() {
    unsigned chosen;
    asm volatile(
        "{\n\t.reg .pred is;\n\t"
        "elect.sync _|is, 0xffffffff;\n\t"
        "selp.u32 %0, 1, 0, is;\n\t}"
        : "=r"(chosen));
    return chosen != 0;
}
