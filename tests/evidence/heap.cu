// Memory from the device's heap.
// candidate: heap

extern "C" __global__ void k(float **out) {
    out[0] = new float[4];
    free(out[1]);
}
