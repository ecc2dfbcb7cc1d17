// A recursive walk does not stop at the leaf of a tree that points to itself.
// launch: grid=1 block=1
// arg: in:i32[4]=1,2,3,3
// arg: buf:i32[1]
// expect: 1[0] = 3
__device__ __noinline__ int depth_of(const int* child, int node) {
    int next = child[node];
    int below = depth_of(child, next); // FAULT: call
    return below + (next != node);
}

__device__ __noinline__ int depth_until(const int* child, int node) {
    int next = child[node];
    if (next == node) return 0;
    return depth_until(child, next) + 1;
}

extern "C" __global__ void defect(const int* child, int* out) { *out = depth_of(child, 0); }
extern "C" __global__ void fixed(const int* child, int* out) { *out = depth_until(child, 0); }
