// Tensor maps. The driver encodes them: the runtime gives its functions, so that nothing is linked with the driver.
namespace lightbench {
inline void *driver_function(const char *name, bool &sound) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    sound = sound && status == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return function;
}

struct MapModes {
    CUtensorMapDataType element;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2_promotion;
    CUtensorMapFloatOOBfill fill;
};

// The driver's order: the innermost dimension first.
using Sizes = std::initializer_list<long long>;

template <typename Number> void copy(Sizes from, Number (&to)[5], bool &sound) {
    sound = sound && from.size() <= 5;
    size_t at = 0;
    for (auto each = from.begin(); sound && each != from.end(); ++each, ++at) {
        to[at] = (Number)*each;
        sound = (long long)to[at] == *each;
    }
}

// Strides are in bytes, without the innermost one.
inline CUtensorMap tiled(const MapModes &modes, void *start, Sizes dims, Sizes strides, Sizes box,
                         Sizes element_strides, bool &sound) {
    CUtensorMap map = {};
    cuuint64_t dim[5] = {}, stride[5] = {};
    cuuint32_t side[5] = {}, step[5] = {};
    copy(dims, dim, sound);
    copy(strides, stride, sound);
    copy(box, side, sound);
    copy(element_strides, step, sound);
    const auto encode =
        (decltype(&cuTensorMapEncodeTiled))driver_function("cuTensorMapEncodeTiled", sound);
    sound = sound && encode(&map, modes.element, (cuuint32_t)dims.size(), start, dim, stride, side,
                            step, modes.interleave, modes.swizzle, modes.l2_promotion,
                            modes.fill) == CUDA_SUCCESS;
    return map;
}

inline CUtensorMap columns(const MapModes &modes, void *start, Sizes dims, Sizes strides,
                           Sizes lower_corner, Sizes upper_corner, long long channels,
                           long long pixels, Sizes element_strides, bool &sound) {
    CUtensorMap map = {};
    cuuint64_t dim[5] = {}, stride[5] = {};
    int lower[5] = {}, upper[5] = {};
    cuuint32_t step[5] = {};
    copy(dims, dim, sound);
    copy(strides, stride, sound);
    copy(lower_corner, lower, sound);
    copy(upper_corner, upper, sound);
    copy(element_strides, step, sound);
    const auto encode =
        (decltype(&cuTensorMapEncodeIm2col))driver_function("cuTensorMapEncodeIm2col", sound);
    sound = sound && encode(&map, modes.element, (cuuint32_t)dims.size(), start, dim, stride, lower,
                            upper, (cuuint32_t)channels, (cuuint32_t)pixels, step, modes.interleave,
                            modes.swizzle, modes.l2_promotion, modes.fill) == CUDA_SUCCESS;
    return map;
}
} // namespace lightbench
