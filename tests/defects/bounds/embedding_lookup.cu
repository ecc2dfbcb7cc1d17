// A token number that means padding lies behind the vocabulary.
// launch: grid=6 block=16 also=80,100
// arg: in:i32[6]=0,3,9,50,1,10
// arg: in:f32[160]=iota
// arg: buf:f32[96]
// arg: i32:10
// expect: 2[16] = 48
// expect: 2[48] = 0
extern "C" __global__ void defect(const int* __restrict__ tokens, const float* __restrict__ table, float* __restrict__ out, int vocab) {
    const int token = tokens[blockIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = table[token * blockDim.x + threadIdx.x]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const int* __restrict__ tokens, const float* __restrict__ table, float* __restrict__ out, int vocab) {
    const int token = tokens[blockIdx.x];
    const bool known = token >= 0 && token < vocab;
    out[blockIdx.x * blockDim.x + threadIdx.x] = known ? table[token * blockDim.x + threadIdx.x] : 0.0f;
}
