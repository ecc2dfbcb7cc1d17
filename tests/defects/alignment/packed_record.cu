// A field of a packed record is read through a pointer to int.
// launch: grid=1 block=4
// arg: in:u8[20]=1,7,0,0,0,2,8,0,0,0,3,9,0,0,0,4,10,0,0,0
// arg: buf:i32[4]
// expect: 1[3] = 10
extern "C" __global__ void defect(const unsigned char* records, int* values) {
    const unsigned char* record = records + 5 * threadIdx.x;
    values[threadIdx.x] = *reinterpret_cast<const int*>(record + 1); // FAULT: misaligned
}

extern "C" __global__ void fixed(const unsigned char* records, int* values) {
    const unsigned char* record = records + 5 * threadIdx.x;
    int value;
    memcpy(&value, record + 1, sizeof(value));
    values[threadIdx.x] = value;
}
