// Assertions of the candidate's own.
// candidate: trap
// toolkit: inline_assembly

extern "C" __global__ void k(float *out, int size) {
    if (size < 0) __trap();
    assert(threadIdx.x < size);
    out[threadIdx.x] = 1.0f;
}
