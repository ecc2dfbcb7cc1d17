//! What the user typed.
//!
//! The environment is read here and in `session.rs`; everything below is told.

mod history;
mod launch;
mod launcher;
mod lessons;
mod measuring;
mod models;
mod numbers;
mod picture;
mod profile;
mod search;
mod suggest;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::history::{Export, History, Import, Report, Selection, Sort};
pub use self::launch::{Approximations, CheckSet, Launch, Order};
pub use self::launcher::Launcher;
pub use self::lessons::{Access, Lesson};
pub use self::measuring::{Clock, ComparedMode, ExtraMode, Measuring};
pub use self::models::Models;
pub use self::numbers::{Calibrate, Explain, Tour};
pub use self::picture::Picture;
pub use self::profile::{HoldClocks, LaunchOnce, Profile};
pub use self::search::{Search, Searching, Sweep};
pub use self::suggest::Suggest;

/// A workbench for CUDA kernels: correct, how fast, how far from the speed of light.
#[derive(Debug, Parser)]
#[command(
    name = "lightbench",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub struct Arguments {
    /// What to do; without it the window opens.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// A project folder, or a kernel file of one, to open in the window.
    #[arg(value_name = "PROJECT")]
    pub open: Option<PathBuf>,

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

    /// Folder for this machine's key, and for histories that a project cannot hold.
    #[arg(long, global = true, value_name = "DIR", env = "LIGHTBENCH_STATE")]
    pub state: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the help text of each command stands at its arguments")]
pub enum Command {
    Check(Check),
    Run(Run),
    Compare(Compare),
    Sweep(Sweep),
    Search(Search),
    Audit(Audit),
    Suggest(Suggest),
    Launch(Launch),
    Profile(Profile),
    Access(Access),
    Lesson(Lesson),
    History(History),
    Export(Export),
    Launcher(Launcher),
    Import(Import),
    Report(Report),
    New(New),
    Devices(Devices),
    Calibrate(Calibrate),
    Explain(Explain),
    Tour(Tour),
    Doctor(Doctor),
    Models(Models),
    Picture(Picture),
    /// Serve requests of a parent process on standard input and output.
    #[command(hide = true)]
    Worker,
    #[command(hide = true)]
    LaunchOnce(LaunchOnce),
    #[command(hide = true)]
    HoldClocks(HoldClocks),
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

/// Compare two kernels of a project: both must be right, then both run in every round, in an order that is shuffled.
///
/// Each is a kernel, the number of a run (as `history` lists them), whose kernel is made again of the texts that it had, or
/// a library that the project names as a baseline, such as `cublas`.
///
/// On a GPU the answer is one of three: B is faster, B is slower, or there is no measurable difference. On a virtual
/// device only bounds are compared, and there are no libraries.
///
/// Exit status 0 if both are right, 1 if one is not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Compare {
    /// A project folder.
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,

    /// What is compared with: a kernel, a run or a library.
    #[arg(value_name = "A")]
    pub a: String,

    /// What is compared: a kernel, a run or a library.
    #[arg(value_name = "B")]
    pub b: String,

    /// `virtual:` and a device sheet, or `cuda:` and a number [default: the first GPU, else virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only on this workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// What all inputs come from [default: drawn by the system].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// What tells the time of a single launch on a GPU [default: the driver's time stamps where there are any, else events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

    /// Under which condition both run, on a GPU [default: cold].
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ComparedMode>,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Verify a project's kernels: right results on fresh inputs, no fault, nothing left over, nothing hidden.
///
/// Exit status 0 if all passed, 1 if one did not, 2 if the request is wrong, 3 if the machine lacks something.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people type")]
#[derive(Debug, Args)]
pub struct Run {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub target: PathBuf,

    /// Only this kernel: one below kernels/ or wrong/, or `reference`.
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub kernel: Option<String>,

    /// Every kernel below kernels/, as without this option.
    #[arg(long)]
    pub all: bool,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only this workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// A quick look at one workload: it finds much that is wrong, and verifies nothing.
    #[arg(long)]
    pub screen: bool,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// What all inputs come from [default: another one each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Only whether they are right, not how long they take.
    #[arg(long)]
    pub no_times: bool,

    /// How times are taken, and what is measured besides.
    #[command(flatten)]
    pub measuring: Measuring,

    /// Keep no record of the runs.
    #[arg(long)]
    pub no_history: bool,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Examine the checker itself: cheats made of a project's definition, its wrong kernels and its honest ones.
///
/// Exit status 0 if every cheat is caught, every wrong kernel fails as it says and every honest one passes, 1 otherwise.
#[derive(Debug, Args)]
pub struct Audit {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// As for `run`.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// What all inputs come from [default: another one each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
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
