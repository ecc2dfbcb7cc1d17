//! Exported Python files: Python compiles them, and a C++ compiler accepts their wrappers against a stand-in for PyTorch.

use super::*;
use crate::launcher::PythonCaller;

const CALLERS: [PythonCaller; 4] = [
    PythonCaller::Torch,
    PythonCaller::GpuMode,
    PythonCaller::KernelBench,
    PythonCaller::FlashInfer,
];

/// As much of PyTorch's C++ as a wrapper uses, and of CUDA's runtime.
const STAND_IN: &str = r#"
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
using cudaError_t = int;
using cudaStream_t = void *;
constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1;
inline const char *cudaGetErrorString(int) { return ""; }
struct __half {}; struct __nv_bfloat16 {}; struct __nv_fp8_e4m3 {}; struct __nv_fp8_e5m2 {};
template <typename... Parts> void refuse(Parts &&...) {}
#define TORCH_CHECK(condition, ...) do { if (!(condition)) refuse(__VA_ARGS__); } while (false)
namespace c10 { namespace cuda {
struct CUDAGuard { explicit CUDAGuard(int) {} };
struct CUDAStream { cudaStream_t stream() const { return nullptr; } };
inline CUDAStream getCurrentCUDAStream() { return {}; }
} }
namespace at {
enum ScalarType { kDouble, kFloat, kHalf, kBFloat16, kFloat8_e4m3fn, kFloat8_e5m2, kLong, kInt, kShort, kChar, kUInt64,
                  kUInt32, kUInt16, kByte, kBool };
struct Options { Options dtype(ScalarType) const { return {}; } };
struct Tensor {
    bool is_cuda() const { return true; }
    int device() const { return 0; }
    ScalarType scalar_type() const { return kFloat; }
    int64_t dim() const { return 1; }
    int64_t size(int64_t) const { return 1; }
    bool is_contiguous() const { return true; }
    void *data_ptr() const { return nullptr; }
    Options options() const { return {}; }
};
inline Tensor empty(std::initializer_list<int64_t>, Options) { return {}; }
}
"#;

fn python(project: &Project, kernel: &str, caller: PythonCaller) -> Result<String, NoLauncher> {
    let kernel = project.kernel(kernel).unwrap();
    let environment = project.environment(&project.workloads[0]);
    let selection =
        kernel.launch.select(&environment, &Default::default(), &DeviceFacts::default()).unwrap();
    let candidate = Candidate::new(project, kernel, selection).unwrap();
    let provenance = ["Nobody verified it.".to_owned()];
    let (definition, launch) = (&project.definition, &kernel.launch);
    LauncherRequest { definition, launch, candidate: &candidate, provenance: &provenance }
        .python(caller)
}

/// Every kernel of the sample projects, by its project.
fn samples() -> Vec<(Project, Vec<String>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut roots: Vec<PathBuf> =
        folders.filter(|root| root.join("project.ron").is_file()).collect();
    roots.sort();
    let load = |root: PathBuf| {
        let project = Project::load(&root).unwrap();
        let names = project.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        (project, names)
    };
    roots.into_iter().map(load).collect()
}

/// The Python of an export, also of one that is JSON.
fn source(text: &str, caller: PythonCaller) -> String {
    match caller {
        PythonCaller::Torch | PythonCaller::GpuMode | PythonCaller::KernelBench => text.to_owned(),
        PythonCaller::FlashInfer => {
            let solution: serde_json::Value = serde_json::from_str(text).unwrap();
            solution["sources"][0]["content"].as_str().unwrap().to_owned()
        }
    }
}

#[test]
fn python_compiles_every_export_of_the_sample_projects() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (project, kernels) in samples() {
        for kernel in kernels {
            for caller in CALLERS {
                let text = match python(&project, &kernel, caller) {
                    Ok(text) => text,
                    // A tensor with gaps has no operator.
                    Err(NoLauncher::TorchType(_) | NoLauncher::TorchLayout(_)) => continue,
                    Err(error) => panic!("{} {kernel}: {error}", project.definition.name),
                };
                let name = format!("{}-{kernel}-{caller:?}.py", project.definition.name);
                let file = folder.path().join(name);
                std::fs::write(&file, source(&text, caller)).unwrap();
                files.push(file);
            }
        }
    }
    assert!(files.len() > 200, "{}", files.len());
    let said = Command::new("python3").args(["-m", "py_compile"]).args(&files).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn a_cpp_compiler_accepts_the_wrapper_of_every_sample_project() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: there is no C++ compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wno-unused", "-Werror"]);
    let mut count = 0;
    for (project, kernels) in samples() {
        for kernel in kernels {
            let Ok(text) = python(&project, &kernel, PythonCaller::Torch) else { continue };
            let begin = text.find("CPP_SOURCE = r'''").unwrap() + "CPP_SOURCE = r'''".len();
            let end = begin + text[begin..].find("'''").unwrap();
            let own = |line: &&str| {
                !line.starts_with("#include <c10")
                    && !line.starts_with("#include <cu")
                    && !line.starts_with("#include <torch")
            };
            let wrapper: Vec<&str> = text[begin..end].lines().filter(own).collect();
            let file = folder.path().join(format!("{count}.cpp"));
            std::fs::write(&file, format!("{STAND_IN}{}\n", wrapper.join("\n"))).unwrap();
            command.arg(file);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

fn check_words(project: &str, kernel: &str, caller: PythonCaller, words: &[&str]) {
    let text = python(&super::project(project), kernel, caller).unwrap();
    for words in words {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn tensors_and_sizes_are_checked_before_a_launch() {
    check_words(
        "sample-projects/rmsnorm",
        "naive",
        PythonCaller::Torch,
        &[
            "# Nobody verified it.",
            "check_tensor(x, \"x\", at::kBFloat16, 2, ",
            "const long long rows = x.size(0);",
            "check_size(w.size(0), cols, sound, \"w\", 0, \"cols\");",
            "\"cols: expected 8 to 32768, a multiple of 8; found \", cols);",
            "const c10::cuda::CUDAGuard guard(x.device());",
            "at::Tensor y = at::empty({rows, cols}, x.options().dtype(at::kBFloat16));",
            "static_cast<float>(eps)",
            "LIBRARY.define(\"run(Tensor x, Tensor w, float eps=1e-5) -> Tensor\")",
            "    rows = x.shape[0]\n",
            "return x.new_empty((rows, cols, ), dtype=torch.bfloat16)",
        ],
    );
    check_words(
        "sample-projects/jacobi",
        "two-sweeps",
        PythonCaller::Torch,
        &["_scratch_bytes(", "scratch.data_ptr()", "int64_t sweeps", "int sweeps"],
    );
    check_words(
        "sample-projects/softmax",
        "naive",
        PythonCaller::GpuMode,
        &["def custom_kernel(data):", "if tensors == 1 and len(data) <= 1:"],
    );
    check_words(
        "sample-projects/softmax",
        "naive",
        PythonCaller::KernelBench,
        &["class ModelNew(torch.nn.Module):", "def forward(self, x):"],
    );
    check_words(
        "sample-projects/softmax",
        "naive",
        PythonCaller::FlashInfer,
        &["\"definition\": \"softmax\"", "\"entry_point\": \"main.py::run\"", "def run(x, y):"],
    );
}
