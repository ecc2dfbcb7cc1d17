//! Arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use lightbench_core::dtype::Dtype;

/// Make a project from a task of a public benchmark suite, or read traces into a project's history.
///
/// Tasks: a definition of FlashInfer-Bench or SOL-ExecBench (one JSON file, or a folder that holds it with its workloads
/// and solutions). The report lists what was carried over, what was left out and why, and what you must confirm or
/// answer, each with its line. Importing executes no Python.
///
/// PyTorch extensions: a `.cu` file with a host wrapper that launches kernels, or a `.py` file that passes one to
/// `load_inline`. The wrapper becomes the launch block; `--reference` names the function that computes the same.
///
/// Triton files: a `.py` file with `@triton.jit` kernels and a function that launches them. The function becomes the
/// launch block, as the wrapper of an extension does.
///
/// Traces (one JSON object a line, as `export` writes them) become recorded runs of a project. A file is imported
/// completely or not at all; runs that are already there are unchanged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench import rmsnorm_h4096.json                   a new project rmsnorm_h4096 in this folder
  lightbench import tasks/rope --into projects/rope
  lightbench import traces.jsonl projects/rope           recorded runs")]
pub struct Import {
    /// A task: a file or a folder. Or a file of traces.
    #[arg(value_name = "FILE | FOLDER")]
    pub file: PathBuf,

    /// For traces: the project [default: this folder].
    #[arg(value_name = "PROJECT", conflicts_with = "into")]
    pub project: Option<PathBuf>,

    /// For a task: the new folder, which must be missing or empty [default: the task's name, in this folder].
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,

    /// For a PyTorch extension, a Triton file or a log of TritonParse: the file with the reference, Python or CUDA.
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub reference: Option<PathBuf>,

    /// For a PyTorch extension that dispatches on dtypes, and for a Triton file that states none: the one of the project
    /// [default: f32 where possible].
    #[arg(long, value_name = "DTYPE", conflicts_with = "project", value_parser = dtype)]
    pub dtype: Option<Dtype>,

    /// For a log of TritonParse: the kernel, or the first digits of the hash of a compilation [default: the only kernel,
    /// with the compilation that was launched most].
    #[arg(long, value_name = "NAME", conflicts_with = "project")]
    pub kernel: Option<String>,

    /// For a task of KernelBench: a file with an answer, which becomes a kernel: `class ModelNew` with `load_inline` or Triton.
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub answer: Option<PathBuf>,

    /// For traces: the author of the runs [default: the name of the file].
    #[arg(long, value_name = "NAME", conflicts_with = "into")]
    pub author: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

fn dtype(written: &str) -> Result<Dtype, String> {
    let found = Dtype::ALL.into_iter().find(|dtype| dtype.name() == written);
    found.ok_or_else(|| "expected a dtype of project files, such as f16".to_owned())
}
