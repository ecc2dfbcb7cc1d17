// What launches ask the device for, and how they begin.
inline long long attribute(cudaDeviceAttr which, bool &sound) {
    int device = 0, value = 0;
    sound = sound && cudaGetDevice(&device) == cudaSuccess;
    sound = sound && cudaDeviceGetAttribute(&value, which, device) == cudaSuccess;
    return value;
}

inline long long sms(bool &sound) { return attribute(cudaDevAttrMultiProcessorCount, sound); }
inline long long l2_bytes(bool &sound) { return attribute(cudaDevAttrL2CacheSize, sound); }
inline long long max_shared_per_block(bool &sound) {
    return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, sound);
}
inline long long shared_per_sm(bool &sound) {
    return attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sound);
}
inline long long warp_size(bool &sound) { return attribute(cudaDevAttrWarpSize, sound); }
inline long long max_threads_per_sm(bool &sound) {
    return attribute(cudaDevAttrMaxThreadsPerMultiProcessor, sound);
}

inline cudaError_t permit(const void *kernel, long long shared) {
    const auto limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
    return shared > 49152 ? cudaFuncSetAttribute(kernel, limit, (int)shared) : cudaSuccess;
}

// Blocks of a kernel that the whole device holds at once.
inline long long resident(const void *kernel, long long threads, long long shared, bool &sound) {
    int blocks = 0;
    sound = sound && permit(kernel, shared) == cudaSuccess;
    sound = sound && cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                         &blocks, kernel, (int)threads, (size_t)shared) == cudaSuccess;
    return blocks * sms(sound);
}

inline dim3 dimensions(long long x, long long y, long long z, bool &sound) {
    const auto fits = [](long long size) { return 1 <= size && size <= INT_MAX; };
    sound = sound && fits(x) && fits(y) && fits(z);
    return dim3((unsigned)x, (unsigned)y, (unsigned)z);
}

template <typename Word>
__global__ void set(Word *to, Word value, long long count) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = value;
}

template <typename Word>
cudaError_t fill(void *to, Word value, long long bytes, cudaStream_t stream) {
    const long long count = bytes / (long long)sizeof(Word);
    if (value == 0) return cudaMemsetAsync(to, 0, (size_t)bytes, stream);
    const long long blocks = std::min<long long>((count + 255) / 256, 65535);
    set<<<(unsigned)blocks, 256, 0, stream>>>((Word *)to, value, count);
    return cudaGetLastError();
}
} // namespace lightbench
