// A loop looks for the terminator of a text that has none within its buffer.
// launch: grid=1 block=2
// arg: in:u8[16]=65
// arg: buf:i32[2]
// arg: i32:8
// expect: 1[1] = 8
__device__ int length_of(const char* text) {
    int n = 0;
    while (text[n] != '\0') n++; // FAULT: out_of_bounds
    return n;
}

extern "C" __global__ void defect(const char* texts, int* lengths, int width) {
    lengths[threadIdx.x] = length_of(texts + threadIdx.x * width);
}

extern "C" __global__ void fixed(const char* texts, int* lengths, int width) {
    const char* text = texts + threadIdx.x * width;
    int n = 0;
    while (n < width && text[n] != '\0') n++;
    lengths[threadIdx.x] = n;
}
