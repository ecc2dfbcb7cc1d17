// Printing, with a string that no other use of a device variable follows from.
// candidate: printf

extern "C" __global__ void k(float *out) {
    if (out[0] > 1.0f) printf("%f\n", out[0]);
    printf("done\n");
}
