// A merge looks at the next element of a list that is used up already.
// launch: grid=1 block=1 also=80,100
// arg: in:i32[4]=1,4,6,9
// arg: in:i32[4]=2,3,10,11
// arg: buf:i32[8]
// expect: 2[7] = 11
extern "C" __global__ void defect(const int* a, const int* b, int* out) {
    int i = 0, j = 0;
    for (int k = 0; k < 8; k++)
        out[k] = a[i] <= b[j] ? a[i++] : b[j++]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const int* a, const int* b, int* out) {
    int i = 0, j = 0;
    for (int k = 0; k < 8; k++)
        out[k] = j >= 4 || (i < 4 && a[i] <= b[j]) ? a[i++] : b[j++];
}
