//! Exports a kernel as a CUDA C++ file that launches it.
//!
//! The file has no dependency on Lightbench. It contains the files that the kernel includes, parameters are constants, and
//! the launch block becomes a function of the task's tensors and axes that runs on the caller's stream.

mod function;
mod names;
mod python_file;
mod single_file;
mod steps;
mod tensor_maps;
#[cfg(test)]
mod tests;
mod torch_wrapper;

use lightbench_primitives::display_text::visible;
use thiserror::Error;

use self::function::Function;
pub use self::python_file::PythonCaller;
use self::single_file::SingleFile;
use crate::project::definition::Definition;
use crate::project::launch::Architecture;
use crate::project::prelude;
use crate::project::{Candidate, Language, Launch};

const ARITHMETIC: &str = include_str!("../../../assets/launcher/arithmetic.cuh");
const DEVICE: &str = include_str!("../../../assets/launcher/device.cuh");
const TENSOR_MAPS: &str = include_str!("../../../assets/launcher/tensor_map.cuh");

/// The standard headers that replace the prelude, and those for the types of tensors and scalars.
const HEADERS: [&str; 10] = [
    "algorithm",
    "cfloat",
    "climits",
    "cmath",
    "cstdint",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp8.h",
    "cuda_runtime.h",
    "utility",
];

/// The input of a launcher: a snapshot of a kernel, its launch and the task.
#[derive(Clone, Copy, Debug)]
pub struct LauncherRequest<'a> {
    /// The task.
    pub definition: &'a Definition,
    /// The launch block of the kernel.
    pub launch: &'a Launch,
    /// The texts of the kernel, with chosen parameters and constants.
    pub candidate: &'a Candidate,
    /// Provenance, one line each: verification and times.
    pub provenance: &'a [String],
}

/// Why a kernel has no launcher.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoLauncher {
    /// PTX is loaded by the driver's interface, not linked.
    #[error("the kernel is PTX; launchers are generated from CUDA C++ only")]
    Ptx,
    /// Triton launches its kernels from Python.
    #[error(
        "the kernel is a Triton function, which Python launches; launchers are generated from CUDA C++ only"
    )]
    Triton,
    /// Texture objects live longer than a call.
    #[error("the launch needs the texture `{0}`, which lives longer than a call")]
    Texture(String),
    /// Formulas in launchers use 64-bit integers.
    #[error("`{0}` is not a formula of 64-bit integers")]
    Formula(String),
    /// A name that nothing in the project explains.
    #[error("the launch passes `{0}`, which the project does not define")]
    Outside(String),
    /// PyTorch has no such type.
    #[error("PyTorch has no tensor or argument for the type {0}")]
    TorchType(&'static str),
    /// Only contiguous tensors are checked.
    #[error("the tensor `{0}` has gaps; operators of PyTorch are generated for contiguous tensors")]
    TorchLayout(String),
    /// The first input's device is the operator's.
    #[error(
        "the project has no input tensor, which an operator of PyTorch needs to know its device"
    )]
    NoInput,
}

impl LauncherRequest<'_> {
    /// The text of the launcher file.
    ///
    /// # Errors
    /// The launch uses a feature that a launcher cannot express.
    pub fn launcher(&self) -> Result<String, NoLauncher> {
        match self.candidate.language {
            Language::Cuda => {}
            Language::Ptx => return Err(NoLauncher::Ptx),
            Language::Triton => return Err(NoLauncher::Triton),
        }
        if let Some(texture) = self.launch.textures.first() {
            return Err(NoLauncher::Texture(texture.name.clone()));
        }
        let function = Function::new(self)?;
        let kernel = SingleFile::new(self.candidate);
        let mut headers: Vec<&str> = HEADERS.to_vec();
        headers.extend(kernel.headers.iter().map(String::as_str));
        let has_maps = !self.launch.tensor_maps.is_empty();
        if has_maps {
            headers.extend(["cuda.h", "initializer_list"]);
        }
        headers.sort_unstable();
        headers.dedup();
        let mut text = self.head(&function);
        for header in headers {
            text.push_str(&format!("#include <{header}>\n"));
        }
        let selection = &self.candidate.selection;
        let values = prelude::values(&selection.parameters, &selection.constants);
        if !values.is_empty() {
            text.push_str(&format!("\n{values}"));
        }
        let space = &function.space;
        let code = kernel.text;
        // Two launchers may be linked into one program: equal names of their kernels must not collide.
        text.push_str(&if kernel.has_conditional_header {
            format!("\n{code}\n")
        } else {
            format!("\nnamespace {space} {{\n{code}\n}} // namespace {space}\n")
        });
        let maps = if has_maps { TENSOR_MAPS } else { "" };
        text.push_str(&format!("\n{ARITHMETIC}\n{DEVICE}{maps}\n{}", function.text));
        Ok(text)
    }

    /// The head comment: origin of the file, compilation and usage.
    fn head(&self, function: &Function) -> String {
        let Definition { title, .. } = self.definition;
        let Candidate { kernel, selection, hash, .. } = self.candidate;
        let mut lines = vec![format!("{title}: {}", self.launch.title)];
        let chosen = selection.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        let chosen: Vec<String> = chosen.collect();
        let with =
            if chosen.is_empty() { String::new() } else { format!(", {}", chosen.join(", ")) };
        lines.push(format!("Kernel `{kernel}`{with}; candidate {hash}."));
        lines.extend(self.provenance.iter().cloned());
        let architecture = match selection.architecture {
            Architecture::Portable => "-arch=native",
            Architecture::Specific => "-arch=sm_90a",
        };
        let options: String = selection.options.iter().map(|option| format!(" {option}")).collect();
        let dialect = if options.contains("--std=") { "" } else { " -std=c++17" };
        lines.push(String::new());
        lines.push(format!("nvcc -O3{dialect} {architecture}{options} -c THIS_FILE"));
        lines.push(String::new());
        lines.extend(function.usage.iter().cloned());
        let comment = |line: &String| format!("// {}", visible(line)).trim_end().to_owned() + "\n";
        lines.iter().map(comment).collect::<String>() + "\n"
    }
}
