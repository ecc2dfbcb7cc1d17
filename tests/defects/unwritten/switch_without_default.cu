// A mode that no case handles leaves the weight unset.
// launch: grid=1 block=4 as-written also=80
// arg: in:i32[4]=0,1,2,3
// arg: buf:f32[4]
// expect: 1[3] = 1
extern "C" __global__ void defect(const int* mode, float* out) {
    float weight;
    switch (mode[threadIdx.x]) {
    case 0: weight = 0.25f; break;
    case 1: weight = 0.5f; break;
    case 2: weight = 0.75f; break;
    }
    out[threadIdx.x] = weight; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const int* mode, float* out) {
    float weight;
    switch (mode[threadIdx.x]) {
    case 0: weight = 0.25f; break;
    case 1: weight = 0.5f; break;
    case 2: weight = 0.75f; break;
    default: weight = 1.0f; break;
    }
    out[threadIdx.x] = weight;
}
