// The array for the odd numbers is one too short, so the last one lands in the array behind it.
// launch: grid=1 block=32
// arg: in:i32[65]=iota
// arg: buf:i32[33]
// expect: 1[31] = 63
// expect: 1[32] = 1
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int odd[32];
    __shared__ int even[33];
    int t = threadIdx.x;
    even[t] = in[2 * t];
    odd[t + 1] = in[2 * t + 1]; // FAULT: out_of_bounds
    if (t == 0) { even[32] = in[64]; odd[0] = 1; }
    __syncthreads();
    out[t] = odd[31 - t] + even[t] - even[t] / 64;
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int odd[33];
    __shared__ int even[33];
    int t = threadIdx.x;
    even[t] = in[2 * t];
    odd[t + 1] = in[2 * t + 1];
    if (t == 0) { even[32] = in[64]; odd[0] = 1; }
    __syncthreads();
    out[t] = odd[t + 1] + even[t] - even[t];
    if (t == 0) out[32] = odd[0] + even[32] / 128;
}
