// A bitonic sort of 48 numbers in a block of 64 exchanges with partners that do not exist.
// launch: grid=1 block=64
// arg: buf:i32[48]=iota%7
// arg: i32:48
// expect: 0[0] = 0
// expect: 0[47] = 6
extern "C" __global__ void defect(int* data, int n) {
    unsigned i = threadIdx.x;
    for (unsigned k = 2; k <= 64; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned partner = i ^ j;
            if (partner > i) {
                int a = data[i], b = data[partner]; // FAULT: out_of_bounds
                bool ascending = (i & k) == 0;
                if ((a > b) == ascending) { data[i] = b; data[partner] = a; }
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void fixed(int* data, int n) {
    __shared__ int padded[64];
    unsigned i = threadIdx.x;
    padded[i] = i < n ? data[i] : 0x7fffffff;
    __syncthreads();
    for (unsigned k = 2; k <= 64; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned partner = i ^ j;
            if (partner > i) {
                int a = padded[i], b = padded[partner];
                bool ascending = (i & k) == 0;
                if ((a > b) == ascending) { padded[i] = b; padded[partner] = a; }
            }
            __syncthreads();
        }
    }
    if (i < n) data[i] = padded[i];
}
