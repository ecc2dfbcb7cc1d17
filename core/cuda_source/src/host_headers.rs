//! Headers that only host code uses. The list is closed: a header that is not in it reaches the compiler.

/// Whole names.
const NAMES: &[&str] = &[
    "alloca.h",
    "any",
    "atomic",
    "barrier",
    "bitset",
    "builtin_types.h",
    "ccomplex",
    "cctype",
    "cerrno",
    "charconv",
    "chrono",
    "cinttypes",
    "clocale",
    "complex",
    "complex.h",
    "condition_variable",
    "csetjmp",
    "csignal",
    "cstdarg",
    "ctime",
    "ctype.h",
    "cuchar",
    "cudaProfiler.h",
    "cuda_gl_interop.h",
    "cuda_profiler_api.h",
    "cwchar",
    "cwctype",
    "deque",
    "dirent.h",
    "dlfcn.h",
    "driver_types.h",
    "errno.h",
    "exception",
    "execution",
    "fcntl.h",
    "fenv.h",
    "filesystem",
    "format",
    "forward_list",
    "fstream",
    "future",
    "getopt.h",
    "glob.h",
    "inttypes.h",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "latch",
    "libgen.h",
    "list",
    "locale",
    "locale.h",
    "malloc.h",
    "map",
    "memory",
    "memory_resource",
    "mpi.h",
    "mutex",
    "nccl.h",
    "nccl_net.h",
    "new",
    "nvml.h",
    "nvrtc.h",
    "omp.h",
    "optional",
    "ostream",
    "print",
    "pthread.h",
    "queue",
    "random",
    "regex",
    "sched.h",
    "semaphore",
    "semaphore.h",
    "set",
    "setjmp.h",
    "shared_mutex",
    "signal.h",
    "source_location",
    "span",
    "sstream",
    "stack",
    "stdarg.h",
    "stdexcept",
    "stop_token",
    "streambuf",
    "string",
    "string_view",
    "strings.h",
    "strstream",
    "syncstream",
    "system_error",
    "thread",
    "time.h",
    "typeindex",
    "typeinfo",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "valarray",
    "variant",
    "vector",
    "wchar.h",
    "wctype.h",
    "windows.h",
];

/// Beginnings of names: libraries that host code calls.
const BEGINNINGS: &[&str] = &[
    "ATen/",
    "Eigen/",
    "arpa/",
    "benchmark/",
    "boost/",
    "c10/",
    "cudnn",
    "cufft",
    "cupti",
    "curand.h",
    "cusolver",
    "cusparse",
    "cutensor",
    "gtest/",
    "gmock/",
    "helper_cuda",
    "helper_functions",
    "helper_string",
    "helper_timer",
    "mpi/",
    "nccl/",
    "netinet/",
    "nvToolsExt",
    "nvtx3/",
    "openmpi/",
    "pybind11/",
    "sys/",
    "thrust/",
    "torch/",
];

/// Whether a header, named without `<` and `>`, is one that only host code uses.
#[must_use]
pub fn is_host_header(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok() || BEGINNINGS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{NAMES, is_host_header};

    #[test]
    fn the_list_is_sorted() {
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn headers_of_the_host_are_known_and_no_others() {
        for name in ["vector", "cudnn_frontend.h", "nccl.h", "mpi.h", "sys/time.h"] {
            assert!(is_host_header(name), "{name}");
        }
        for name in [
            "cuda_fp16.h",
            "cooperative_groups.h",
            "curand_kernel.h",
            "vector_types.h",
            "common.h",
            "cmath",
            // Has a substitute, because it includes the headers of the half-precision types.
            "cublas_v2.h",
        ] {
            assert!(!is_host_header(name), "{name}");
        }
    }
}
