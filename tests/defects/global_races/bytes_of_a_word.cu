// Threads of two blocks clear bits of words that they share.
// launch: grid=2 block=16 also=80,100
// arg: buf:u8[32]=255
// expect: 0[31] = 31
extern "C" __global__ void defect(unsigned char* m) {
    unsigned* words = reinterpret_cast<unsigned*>(m);
    int i = threadIdx.x * 2 + blockIdx.x;
    words[i / 4] &= ~(0xffu << (i % 4 * 8)); // FAULT: data_race
}

// Bytes of one word belong to different blocks, which is no race.
extern "C" __global__ void fixed(unsigned char* m) {
    int i = threadIdx.x * 2 + blockIdx.x;
    m[i] = i;
}
