// A coefficient in constant memory is changed by a function that takes any pointer.
// launch: grid=1 block=1
// arg: buf:f32[1]
// expect: 0[0] = 6
__constant__ float gain[2] = {2.0f, 3.0f};
__device__ float copy[2] = {2.0f, 3.0f};

__device__ __noinline__ void scale(float* value, float by) {
    *value *= by; // FAULT: read_only_write
}

extern "C" __global__ void defect(float* out) {
    scale(const_cast<float*>(&gain[1]), 2.0f);
    *out = gain[0] * gain[1];
}

extern "C" __global__ void fixed(float* out) {
    copy[1] = gain[1];
    scale(&copy[1], 1.0f);
    *out = gain[0] * copy[1];
}
