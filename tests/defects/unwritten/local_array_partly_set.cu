// Only those elements of a local array are set that some datum names, and all are read.
// launch: grid=1 block=4 also=80,100
// arg: in:i32[12]=0,1,2,1,2,3,0,2,3,3,3,3
// arg: buf:i32[4]
// expect: 1[3] = 3
extern "C" __global__ void defect(const int* votes, int* winner) {
    int tally[4];
    for (int k = 0; k < 3; k++) tally[votes[threadIdx.x * 3 + k]] = 0;
    for (int k = 0; k < 3; k++) tally[votes[threadIdx.x * 3 + k]]++;
    int best = 0;
    for (int k = 1; k < 4; k++)
        if (tally[k] > tally[best]) best = k; // FAULT: uninitialized_read
    winner[threadIdx.x] = best; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const int* votes, int* winner) {
    int tally[4] = {};
    for (int k = 0; k < 3; k++) tally[votes[threadIdx.x * 3 + k]]++;
    int best = 0;
    for (int k = 1; k < 4; k++)
        if (tally[k] > tally[best]) best = k;
    winner[threadIdx.x] = best;
}
