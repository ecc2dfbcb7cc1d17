// arch: 80
// C = A B, f16 in, f32 out: cp.async into two buffers, ldmatrix, mma.m16n8k16; one warp, one 16 x 8 tile.
#include <cuda_fp16.h>
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy16(void* to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)); }
extern "C" __global__ void mma_pipeline(const half* a, const half* b, float* c, int k) {
    __shared__ __align__(16) half sa[2][16][16];
    __shared__ __align__(16) half sb[2][16][8];
    int lane = threadIdx.x;
    float d[4] = {};
    auto fetch = [&](int stage, int k0) {
        copy16(&sa[stage][lane / 2][lane % 2 * 8], &a[lane / 2 * k + k0 + lane % 2 * 8]);
        if (lane < 16) copy16(&sb[stage][lane][0], &b[(k0 + lane) * 8]);
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int k0 = 0, stage = 0; k0 < k; k0 += 16, stage ^= 1) {
        if (k0 + 16 < k) { fetch(stage ^ 1, k0 + 16); asm volatile("cp.async.wait_group 1;"); }
        else asm volatile("cp.async.wait_all;");
        __syncwarp();
        unsigned x[4], y[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(shared_address(&sa[stage][lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(shared_address(&sb[stage][lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncwarp();
    }
    int row = lane / 4, column = lane % 4 * 2;
    c[row * 8 + column] = d[0]; c[row * 8 + column + 1] = d[1];
    c[(row + 8) * 8 + column] = d[2]; c[(row + 8) * 8 + column + 1] = d[3];
}
