// A vertex list contains the number of a vertex that does not exist, as the assertion says.
// launch: grid=1 block=8 also=80,100
// arg: in:i32[8]=0,1,2,3,4,5,6,8
// arg: buf:i32[9]=0
// arg: i32:8
// expect: 1[7] = 0
#include <cassert>
extern "C" __global__ void defect(const int* vertex, int* degree, int vertices) {
    int v = vertex[threadIdx.x];
    assert(v >= 0 && v < vertices); // FAULT: assertion
    atomicAdd(&degree[v], 1);
}

extern "C" __global__ void fixed(const int* vertex, int* degree, int vertices) {
    int v = vertex[threadIdx.x];
    assert(v >= 0 && v <= vertices);
    atomicAdd(&degree[v], 1);
}
