// Every integer atomic, global and shared, in all scopes; results do not depend on the order.
extern "C" __global__ void atomics_integer(int* i, unsigned* u, unsigned long long* w, long long* l, unsigned short* h) {
    __shared__ unsigned s[4];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&i[0], t); atomicSub(&i[1], t); atomicMin(&i[2], t); atomicMax(&i[3], t);
    atomicAnd(&i[4], ~(1 << (t & 31))); atomicOr(&i[5], 1 << (t & 31)); atomicXor(&i[6], 1 << (t & 31));
    atomicInc(&u[0], 17u); atomicDec(&u[1], 17u); atomicMin(&u[2], (unsigned)t); atomicMax(&u[3], (unsigned)t);
    atomicAdd_block(&u[4], 1u); atomicAdd_system(&u[5], 1u); atomicOr_block(&u[6], 4u);
    atomicAdd(&w[0], 1ull << (t & 7)); atomicMax(&w[1], (unsigned long long)t); atomicMin(&l[0], (long long)-t); atomicMax(&l[1], (long long)t);
    atomicAnd(&w[2], ~(1ull << (t & 63))); atomicOr(&w[3], 1ull << (t & 63)); atomicXor(&w[4], 1ull << (t & 63)); atomicExch(&w[5], 9ull);
    unsigned old = u[7], seen;
    do { seen = old; old = atomicCAS(&u[7], seen, seen * 2 + 1 & 0xffff); } while (old != seen);
    unsigned long long wide = w[6], was;
    do { was = wide; wide = atomicCAS(&w[6], was, was + t); } while (wide != was);
    atomicCAS(h, (unsigned short)0, (unsigned short)7);
    atomicAdd(&s[0], 1u); atomicMax(&s[1], (unsigned)t); atomicExch(&s[2], 5u); atomicInc(&s[3], 100u);
    __syncthreads();
    if (threadIdx.x < 4) u[8 + threadIdx.x] = s[threadIdx.x];
}
