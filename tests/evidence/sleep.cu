// A sleep.
// candidate: sleeps
// toolkit: inline_assembly

extern "C" __global__ void k(int *out) {
    __nanosleep(100);
    out[0] = 1;
}
