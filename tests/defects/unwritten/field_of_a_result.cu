// One field of the result is set in one branch only.
// launch: grid=1 block=8 as-written
// arg: in:f32[8]=1,-1,2,-2,3,-3,4,-4
// arg: buf:u8[128]
// expect: 1[24] = 255
struct Hit { double distance; int index; char side; };

extern "C" __global__ void defect(const float* x, Hit* hits) {
    Hit hit;
    hit.distance = fabsf(x[threadIdx.x]);
    hit.side = x[threadIdx.x] > 0;
    if (x[threadIdx.x] > 0) hit.index = threadIdx.x;
    hits[threadIdx.x].distance = hit.distance;
    hits[threadIdx.x].index = hit.index; // FAULT: uninitialized_read
    hits[threadIdx.x].side = hit.side;
}

// The bytes between the fields are copied along; nobody set them, and nobody needs to.
extern "C" __global__ void fixed(const float* x, Hit* hits) {
    Hit hit;
    hit.distance = fabsf(x[threadIdx.x]);
    hit.side = x[threadIdx.x] > 0;
    hit.index = x[threadIdx.x] > 0 ? threadIdx.x : -1;
    hits[threadIdx.x] = hit;
    if (threadIdx.x == 1) hits[1].distance = 0.0;
}
