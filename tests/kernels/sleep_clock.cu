// Clocks move on, sleeping lanes come back, identifiers are in range.
extern "C" __global__ void sleep_clock(int* ok, unsigned* ids) {
    long long before = clock64();
    __nanosleep(100);
    long long after = clock64();
    unsigned sm, warp, count;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    unsigned long long timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    ok[threadIdx.x] = after >= before && sm < count && timer != 0 && clock() != 0;
    ids[threadIdx.x] = warp;
    __threadfence_block(); __threadfence(); __threadfence_system();
    asm volatile("bar.arrive 1, 64;" ::);
    asm volatile("bar.sync 1, 64;" ::);
}
