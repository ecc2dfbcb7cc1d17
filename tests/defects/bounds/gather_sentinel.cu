// Missing neighbours have index -1, and the gather does not look.
// launch: grid=1 block=8 also=80,100
// arg: in:i32[8]=3,-1,0,7,-1,2,5,1
// arg: in:f32[8]=iota
// arg: buf:f32[8]
// expect: 2[1] = 0
// expect: 2[3] = 7
extern "C" __global__ void defect(const int* parent, const float* value, float* out) {
    int i = threadIdx.x;
    int p = parent[i];
    out[i] = __ldg(&value[p]); // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const int* parent, const float* value, float* out) {
    int i = threadIdx.x;
    int p = parent[i];
    out[i] = p >= 0 ? __ldg(&value[p]) : 0.0f;
}
