// A local byte buffer is filled with int4 from an offset of four bytes.
// launch: grid=1 block=4
// arg: in:u32[16]=iota
// arg: buf:u8[4]
// arg: i32:4
// expect: 1[2] = 8
extern "C" __global__ void defect(const int4* in, unsigned char* out, int skip) {
    __align__(16) unsigned char frame[32];
    for (int i = 0; i < 32; i++) frame[i] = i * skip;
    *reinterpret_cast<int4*>(frame + skip) = in[threadIdx.x]; // FAULT: misaligned
    out[threadIdx.x] = frame[(threadIdx.x + skip) & 31];
}

extern "C" __global__ void fixed(const int4* in, unsigned char* out, int skip) {
    __align__(16) unsigned char frame[32];
    for (int i = 0; i < 32; i++) frame[i] = i * skip;
    *reinterpret_cast<int4*>(frame + 16) = in[threadIdx.x];
    out[threadIdx.x] = frame[(12 + skip) & 31];
}
