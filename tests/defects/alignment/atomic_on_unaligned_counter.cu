// A 64-bit counter follows a 32-bit one without padding, and an atomic goes to it.
// launch: grid=1 block=32 also=80,100
// arg: buf:u32[4]=0
// expect: 0[2] = 32
extern "C" __global__ void defect(unsigned* header) {
    auto* total = reinterpret_cast<unsigned long long*>(header + 1);
    atomicAdd(total, 1ull); // FAULT: misaligned
}

extern "C" __global__ void fixed(unsigned* header) {
    auto* total = reinterpret_cast<unsigned long long*>(header + 2);
    atomicAdd(total, 1ull);
}
