//! A kernel as a CUDA C++ file that launches it: what a person takes home.
//!
//! The file needs nothing of ours. Files that the kernel includes are in it, parameters are numbers, and the launch block
//! has become a function of the task's tensors and axes that runs on the caller's stream.

mod function;
mod names;
mod single_file;
mod steps;
#[cfg(test)]
mod tests;

use lightbench_primitives::display_text::visible;
use thiserror::Error;

use self::function::Function;
use self::single_file::SingleFile;
use crate::project::definition::Definition;
use crate::project::launch::Architecture;
use crate::project::prelude;
use crate::project::{Candidate, Language, Launch};

const ARITHMETIC: &str = include_str!("../../../assets/launcher/arithmetic.cuh");
const DEVICE: &str = include_str!("../../../assets/launcher/device.cuh");

/// Standard headers that stand for the prelude, and those of the types of tensors and scalars.
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

/// What is written down: a snapshot of a kernel, its launch and the task.
#[derive(Clone, Copy, Debug)]
pub struct LauncherRequest<'a> {
    /// The task.
    pub definition: &'a Definition,
    /// How the kernel is launched.
    pub launch: &'a Launch,
    /// Its texts, with parameters and constants chosen.
    pub candidate: &'a Candidate,
    /// What is known of it, a line each: who verified it, how long it took.
    pub provenance: &'a [String],
}

/// Why a kernel has no launcher.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoLauncher {
    /// PTX is loaded by the driver's interface, not linked.
    #[error("the kernel is PTX; a launcher is made of CUDA C++")]
    Ptx,
    /// Descriptors are encoded by the driver's interface.
    #[error("the launch needs the tensor map `{0}`, which the CUDA runtime cannot make")]
    TensorMap(String),
    /// Texture objects live longer than a call.
    #[error("the launch needs the texture `{0}`, which lives longer than a call")]
    Texture(String),
    /// Numbers of files are 64-bit integers.
    #[error("`{0}` is no formula of 64-bit integers")]
    Formula(String),
    /// A name that nothing in the project explains.
    #[error("the launch passes `{0}`, which no project explains")]
    Outside(String),
}

impl LauncherRequest<'_> {
    /// The whole file.
    ///
    /// # Errors
    /// What a launcher cannot express.
    pub fn launcher(&self) -> Result<String, NoLauncher> {
        if self.candidate.language == Language::Ptx {
            return Err(NoLauncher::Ptx);
        }
        if let Some(map) = self.launch.tensor_maps.first() {
            return Err(NoLauncher::TensorMap(map.name.clone()));
        }
        if let Some(texture) = self.launch.textures.first() {
            return Err(NoLauncher::Texture(texture.name.clone()));
        }
        let function = Function::new(self)?;
        let kernel = SingleFile::new(self.candidate);
        let mut headers: Vec<&str> = HEADERS.to_vec();
        headers.extend(kernel.headers.iter().map(String::as_str));
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
        // Two launchers may be linked into one program: what their kernels call alike must not meet.
        text.push_str(&if kernel.has_conditional_header {
            format!("\n{code}\n")
        } else {
            format!("\nnamespace {space} {{\n{code}\n}} // namespace {space}\n")
        });
        text.push_str(&format!("\n{ARITHMETIC}\n{DEVICE}\n{}", function.text));
        Ok(text)
    }

    /// What the file is, who made it, and how it is compiled and called.
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
