// Launches a kernel of a file of this folder on a GPU, as its comments say: for a tool that looks at the process.
//
//     nvcc -cubin -arch=sm_90a -lineinfo -I tests/defects -o FILE.cubin FILE.cu
//     nvcc -o on_a_gpu tests/defects/on_a_gpu.cpp -lcuda
//     compute-sanitizer --tool memcheck ./on_a_gpu FILE.cu FILE.cubin defect
//
// `specimen.rs` and `values.rs` read the same comments. Each buffer is an allocation of its own.

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using Bytes = std::vector<char>;

static void check(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    const char* name = "";
    cuGetErrorName(result, &name);
    std::printf("%s: %s\n", what, name);
    std::exit(3);
}

template <class Value>
static void put(Bytes& bytes, Value value) {
    const char* start = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), start, start + sizeof value);
}

static void put(Bytes& bytes, const std::string& type, const std::string& number) {
    if (type == "f32") return put(bytes, static_cast<float>(std::stod(number)));
    if (type == "f64") return put(bytes, std::stod(number));
    const int64_t whole = static_cast<int64_t>(number[0] == '-' ? std::stoll(number) : std::stoull(number));
    const int width = std::stoi(type.substr(1)) / 8;
    const char* start = reinterpret_cast<const char*>(&whole);
    bytes.insert(bytes.end(), start, start + width);
}

// A sum of twelve draws around zero, as in `values.rs`.
static std::string normal(size_t seed) {
    uint32_t state = static_cast<uint32_t>(seed) ^ 0x9e3779b9U;
    double sum = -6;
    for (int draw = 0; draw < 12; ++draw) {
        state = state * 1664525U + 1013904223U;
        sum += static_cast<double>(state >> 8) / (1 << 24);
    }
    return std::to_string(sum);
}

static std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char letter : text) {
        if (letter == at) parts.emplace_back();
        else parts.back() += letter;
    }
    return parts;
}

static Bytes filled(const std::string& type, size_t count, const std::string& values) {
    Bytes bytes;
    const bool counts = values.rfind("iota", 0) == 0;
    const size_t modulus = counts && values.size() > 5 ? std::stoull(values.substr(5)) : SIZE_MAX;
    const std::vector<std::string> list = split(values, ',');
    for (size_t index = 0; index < count; ++index) {
        put(bytes, type, counts ? std::to_string(index % modulus) : values == "normal" ? normal(index)
                                                                   : list[index % list.size()]);
    }
    return bytes;
}

// What is passed: the bytes of a number, or the address of a new buffer.
static Bytes argument(const std::string& spec) {
    const size_t colon = spec.find(':');
    const std::string kind = spec.substr(0, colon), rest = spec.substr(colon + 1);
    Bytes passed;
    if (kind != "in" && kind != "buf") {
        put(passed, kind, rest);
        return passed;
    }
    const size_t open = rest.find('['), close = rest.find(']'), equal = rest.find('=');
    const std::string type = rest.substr(0, open);
    const size_t count = std::stoull(rest.substr(open + 1, close - open - 1));
    Bytes one;
    put(one, type, "0");
    CUdeviceptr buffer = 0;
    check(cuMemAlloc(&buffer, count * one.size()), "allocate");
    if (equal != std::string::npos) {
        const Bytes content = filled(type, count, rest.substr(equal + 1));
        check(cuMemcpyHtoD(buffer, content.data(), content.size()), "fill");
    }
    put(passed, static_cast<uint64_t>(buffer));
    return passed;
}

// Where an argument lies, and the type of its elements.
struct Tensor {
    CUdeviceptr buffer = 0;
    std::string type;
};

// The bytes of a tensor map of a dense tensor: `map:0 dims=64,8 box=32,4 swizzle=b128`.
static Bytes tensor_map(const std::string& spec, const std::vector<Tensor>& tensors) {
    const std::vector<std::string> words = split(spec, ' ');
    const Tensor& tensor = tensors.at(std::stoul(words[0].substr(4)));
    std::vector<cuuint64_t> dims;
    std::vector<cuuint32_t> sides;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    for (const std::string& word : words) {
        const size_t equal = word.find('=');
        const std::string key = word.substr(0, equal), value = equal == std::string::npos ? "" : word.substr(equal + 1);
        if (key == "dims") for (const std::string& dim : split(value, ',')) dims.push_back(std::stoull(dim));
        if (key == "box") for (const std::string& side : split(value, ',')) sides.push_back(std::stoul(side));
        if (value == "b32") swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
        if (value == "b64") swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
        if (value == "b128") swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    }
    const CUtensorMapDataType type = tensor.type == "u8"    ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : tensor.type == "u16" ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                     : tensor.type == "f32" ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                     : tensor.type == "i32" ? CU_TENSOR_MAP_DATA_TYPE_INT32
                                                            : CU_TENSOR_MAP_DATA_TYPE_UINT32;
    std::vector<cuuint64_t> strides;
    cuuint64_t bytes = std::stoi(tensor.type.substr(1)) / 8;
    for (size_t axis = 0; axis + 1 < dims.size(); ++axis) strides.push_back(bytes *= dims[axis]);
    const std::vector<cuuint32_t> ones(dims.size(), 1);
    CUtensorMap map;
    check(cuTensorMapEncodeTiled(&map, type, dims.size(), reinterpret_cast<void*>(tensor.buffer), dims.data(),
                                 strides.data(), sides.data(), ones.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "encode");
    const char* start = reinterpret_cast<const char*>(&map);
    return Bytes(start, start + sizeof map);
}

static void sizes(const std::string& text, unsigned (&size)[3]) {
    const std::vector<std::string> parts = split(text, ',');
    for (size_t axis = 0; axis < parts.size() && axis < 3; ++axis) size[axis] = std::stoul(parts[axis]);
}

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "on_a_gpu FILE.cu FILE.cubin KERNEL\n");
        return 2;
    }
    check(cuInit(0), "start");
    CUdevice device;
    CUcontext context;
    check(cuDeviceGet(&device, 0), "device");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
    std::vector<Bytes> arguments;
    std::vector<Tensor> tensors;
    std::ifstream file(words[1]);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("// arg: ", 0) == 0) {
            const std::string spec = line.substr(8);
            arguments.push_back(spec.rfind("map:", 0) == 0 ? tensor_map(spec, tensors) : argument(spec));
            Tensor tensor;
            const size_t colon = spec.find(':');
            if (arguments.back().size() == sizeof tensor.buffer) {
                std::memcpy(&tensor.buffer, arguments.back().data(), sizeof tensor.buffer);
                tensor.type = spec.substr(colon + 1, spec.find('[') - colon - 1);
            }
            tensors.push_back(tensor);
        }
        if (line.rfind("// launch: ", 0) != 0) continue;
        for (const std::string& word : split(line.substr(11), ' ')) {
            const size_t equal = word.find('=');
            const std::string key = word.substr(0, equal);
            if (key == "grid") sizes(word.substr(equal + 1), grid);
            if (key == "block") sizes(word.substr(equal + 1), block);
            if (key == "shared") shared = std::stoul(word.substr(equal + 1));
        }
    }
    CUmodule module;
    CUfunction kernel;
    check(cuModuleLoad(&module, words[2]), "load");
    check(cuModuleGetFunction(&kernel, module, words[3]), "kernel");
    std::vector<void*> passed;
    for (Bytes& bytes : arguments) passed.push_back(bytes.data());
    check(cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr,
                         passed.data(), nullptr),
          "launch");
    check(cuCtxSynchronize(), "run");
    return 0;
}
