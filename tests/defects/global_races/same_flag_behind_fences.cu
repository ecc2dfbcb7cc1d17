// Every block announces its data with the same flag, one of them with another value.
// launch: grid=3 block=1 also=80,100
// arg: buf:i32[3]
// arg: buf:i32[1]=0
// expect: 1[0] = 1
// expect: 0[2] = 2
extern "C" __global__ void defect(int* data, int* flag) {
    data[blockIdx.x] = blockIdx.x;
    __threadfence();
    *flag = blockIdx.x == 2 ? 2 : 1; // FAULT: data_race
}

extern "C" __global__ void fixed(int* data, int* flag) {
    data[blockIdx.x] = blockIdx.x;
    __threadfence();
    *flag = 1;
}
