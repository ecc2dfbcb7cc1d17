// A thread counts digits up to nine in a local array of nine.
// launch: grid=1 block=32 also=80,100
// arg: in:u8[320]=iota%10
// arg: buf:i32[32]
// expect: 1[0] = 1
extern "C" __global__ void defect(const unsigned char* digits, int* most) {
    int counts[9];
    for (int k = 0; k < 9; k++) counts[k] = 0;
    for (int i = 0; i < 10; i++) counts[digits[threadIdx.x * 10 + i]]++; // FAULT: out_of_bounds
    int best = 0;
    for (int k = 0; k < 9; k++) best = max(best, counts[k]);
    most[threadIdx.x] = best;
}

extern "C" __global__ void fixed(const unsigned char* digits, int* most) {
    int counts[10];
    for (int k = 0; k < 10; k++) counts[k] = 0;
    for (int i = 0; i < 10; i++) counts[digits[threadIdx.x * 10 + i]]++;
    int best = 0;
    for (int k = 0; k < 10; k++) best = max(best, counts[k]);
    most[threadIdx.x] = best;
}
