// A ring of two slots is used as one, which the producer fills again before the consumer has emptied it.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[128]=1
// arg: buf:i32[32]
// expect: 1[31] = 4
__device__ __forceinline__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory"); }
__device__ __forceinline__ void await(int id) { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); }

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int ring[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            ring[k / 2 % 2][lane] = in[k * 32 + lane]; // FAULT: data_race
            await(1 + k % 2);
        }
    } else {
        int sum = 0;
        for (int k = 0; k < 4; k++) {
            await(1 + k % 2);
            sum += ring[k / 2 % 2][31 - lane]; // FAULT: data_race
        }
        out[lane] = sum;
    }
}

// Barriers 1 and 2 say that a slot is full, 3 and 4 that it is empty again.
extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int ring[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            if (k >= 2) await(3 + k % 2);
            ring[k % 2][lane] = in[k * 32 + lane];
            arrive(1 + k % 2);
        }
    } else {
        int sum = 0;
        for (int k = 0; k < 4; k++) {
            await(1 + k % 2);
            sum += ring[k % 2][31 - lane];
            if (k < 2) arrive(3 + k % 2);
        }
        out[lane] = sum;
    }
}
