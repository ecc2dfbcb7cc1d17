// The static size of a stack is smaller than the depth of the tree, as its assertion says.
// launch: grid=1 block=2 as-written
// arg: in:i32[2]=3,9
// arg: buf:i32[2]
// expect: 1[1] = 36
#include <assert.h>
template <typename T, int CAPACITY>
struct Stack {
    T items[CAPACITY];
    int size = 0;
    __device__ void push(T item) {
        assert(size < CAPACITY); // FAULT: assertion
        items[size++] = item;
    }
    __device__ T pop() { return items[--size]; }
};

template <int CAPACITY>
__device__ int walk(int depth) {
    Stack<int, CAPACITY> stack;
    for (int d = 0; d < depth; d++) stack.push(d);
    int sum = 0;
    while (stack.size > 0) sum += stack.pop();
    return sum;
}

extern "C" __global__ void defect(const int* depth, int* out) { out[threadIdx.x] = walk<8>(depth[threadIdx.x]); }
extern "C" __global__ void fixed(const int* depth, int* out) { out[threadIdx.x] = walk<16>(depth[threadIdx.x]); }
