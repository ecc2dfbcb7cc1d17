//! What the user typed.
//!
//! The environment is read here and in `session.rs`; everything below is told.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A workbench for CUDA kernels: correct, how fast, how far from the speed of light.
#[derive(Debug, Parser)]
#[command(name = "lightbench", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Where things are.
    #[command(flatten)]
    pub places: Places,
}

/// Where things are, when not in their usual place.
#[derive(Debug, Args)]
pub struct Places {
    /// Folder of a CUDA toolkit or of NVIDIA's wheels to use instead of the one found.
    #[arg(long, global = true, value_name = "DIR", env = "LIGHTBENCH_TOOLCHAIN")]
    pub toolchain: Option<PathBuf>,

    /// Folder for compiled kernels and a fetched compiler.
    #[arg(long, global = true, value_name = "DIR", env = "LIGHTBENCH_CACHE")]
    pub cache: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the help text of each command stands at its arguments")]
pub enum Command {
    Check(Check),
    New(New),
    Devices(Devices),
    Doctor(Doctor),
    /// Serve requests of a parent process on standard input and output.
    #[command(hide = true)]
    Worker,
}

/// Compile a project's kernels and show registers, shared memory, occupancy and diagnostics.
///
/// Needs no GPU: the facts are those of the device sheet.
#[derive(Debug, Args)]
pub struct Check {
    /// A project folder, or one kernel file (.cu or .ptx).
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The device sheet to compile for and compute occupancy on (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// Only this kernel, in detail. In a file without a launch block: this `__global__` function.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The workload whose sizes decide grids and constants [default: the first to be measured].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// Compile with device debug information and no optimisation, as the source is written.
    #[arg(long)]
    pub as_written: bool,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,

    /// What to print below the facts.
    #[command(flatten)]
    pub listings: Listings,
}

/// What to print below the facts.
#[derive(Debug, Args)]
pub struct Listings {
    /// The machine instructions, beside the source lines they came from.
    #[arg(long)]
    pub sass: bool,

    /// The PTX, beside the source lines it came from.
    #[arg(long)]
    pub ptx: bool,

    /// Everything that was added to the kernel's text before compiling.
    #[arg(long)]
    pub show_prelude: bool,
}

/// Begin a project: a small working one, or one around an existing kernel.
#[derive(Debug, Args)]
pub struct New {
    /// The folder to make.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Read the signature of a `__global__` function in this file.
    #[arg(long, value_name = "FILE.cu")]
    pub from: Option<PathBuf>,

    /// Which function, when the file has several.
    #[arg(long, value_name = "NAME", requires = "from")]
    pub kernel: Option<String>,
}

/// List the device sheets, or every field of one with its source.
#[derive(Debug, Args)]
pub struct Devices {
    /// The sheet to show.
    #[arg(value_name = "SHEET")]
    pub sheet: Option<String>,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Say what was found on this machine, what is missing, and the command that fixes it.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Fetch NVIDIA's compiler and disassembler with pip into the cache; `assembler` fetches
    /// ptxas, which only kernels written in PTX need.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "compiler")]
    pub fetch: Option<Fetch>,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fetch {
    /// NVRTC, nvdisasm and cuobjdump.
    Compiler,
    /// ptxas.
    Assembler,
}

fn parameter(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example BLOCK=256")?;
    let value = value
        .trim()
        .parse()
        .map_err(|error| format!("`{}` is not an integer: {error}", value.trim()))?;
    Ok((name.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn parameters_are_a_name_and_an_integer() {
        let check = |text, expected| assert_eq!(parameter(text).ok(), expected);
        check("BLOCK=256", Some(("BLOCK".to_owned(), 256)));
        check(" BLOCK = -1 ", Some(("BLOCK".to_owned(), -1)));
        check("BLOCK", None);
        check("BLOCK=", None);
        check("BLOCK=1e3", None);
    }
}
