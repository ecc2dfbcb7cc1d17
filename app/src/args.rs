//! What the user typed.
//!
//! The environment is read here and in `session.rs`; everything below is told.

mod history;
mod lessons;
mod measuring;
mod models;
mod numbers;
mod profile;
mod search;
mod suggest;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::history::{Export, History, Import, Report, Selection, Sort};
pub use self::lessons::{Access, Lesson};
pub use self::measuring::{Clock, ExtraMode, Measuring};
pub use self::models::Models;
pub use self::numbers::{Calibrate, Explain, Tour};
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

/// Run one kernel with given buffers, and show every fault that it commits.
///
/// The virtual GPU runs any kernel exactly, without a GPU; it checks every access and can count what each source line
/// did. A GPU (`cuda:0`) runs the very same launch.
///
/// Each parameter of the kernel takes one SPEC, in order: a value (`u32:5`, `f32:1.5`, `bytes:0a1b…` for a struct), a
/// buffer (`buf:f32[1024]=normal`, `buf:u64[3]=1,2,3`, `buf:u8[64]=@bytes.bin`, `buf:f32[256]` for one that nothing has
/// written yet), or an input that no kernel may write to (`in:f32[1024]=normal`). Types are i8 to i64, u8 to u64, f16,
/// bf16, f32, f64 and bool; a buffer may hold `zeros`, `ones`, `iota`, `normal`, `normal(MEAN,DEVIATION)`, `uniform`,
/// `uniform(LOW,HIGH)`, `constant(VALUE)`, as many values as it has elements, or the bytes of a file.
///
/// Exit status: 0 clean, 1 a fault was found, 2 it could not be loaded or launched, 3 the machine lacks something.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people type")]
#[derive(Debug, Args)]
#[command(
    after_help = "Example: lightbench launch add.cu --grid 4 --block 256 --arg in:f32[1024]=normal \\
    --arg buf:f32[1024] --arg u32:1024 --counters --print 1"
)]
pub struct Launch {
    /// A CUDA or PTX file.
    #[arg(value_name = "FILE.cu | FILE.ptx")]
    pub file: PathBuf,

    /// Which kernel, where the file has several; `name<256>` instantiates a template.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Blocks.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = dimensions)]
    pub grid: Dimensions,

    /// Threads of a block.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = dimensions)]
    pub block: Dimensions,

    /// Dynamic shared memory of a block.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub shared: u32,

    /// All blocks are on the device at once, so that `grid.sync()` works.
    #[arg(long)]
    pub cooperative: bool,

    /// For a kernel of a project: a parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// For a kernel of a project: the workload whose sizes its compile-time constants have [default: the first].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The next argument of the kernel; see above.
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    pub arguments: Vec<String>,

    /// `virtual:` and a device sheet (see `lightbench devices`), or `cuda:` and a number.
    #[arg(long, default_value = "virtual:h200", value_name = "DEVICE")]
    pub device: String,

    /// What is looked for beyond bounds, alignment and writes to inputs, which always are [default: all].
    #[arg(long, value_name = "WHICH")]
    pub checks: Option<CheckSet>,

    /// Compile with device debug information and no optimisation, as the source is written.
    #[arg(long)]
    pub as_written: bool,

    /// In which order threads go: `deterministic`, `parallel` or `adversarial:SEED` [default: deterministic].
    #[arg(long, value_name = "ORDER", value_parser = schedule)]
    pub schedule: Option<Order>,

    /// Count instructions and memory accesses, in total and for each source line, and model from them the time that
    /// the launch needs at least on the device.
    #[arg(long)]
    pub counters: bool,

    /// Also show the time of every pipe and level by itself, and what the modelled time assumes; with `--counters`.
    #[arg(long, requires = "counters")]
    pub assumptions: bool,

    /// Where each result of an approximate function (`sin.approx`, `ex2.approx`, division in `--use_fast_math`) lies in
    /// the interval that the PTX ISA documents: at the exact value, or at its lower or upper end, to see whether a
    /// kernel relies on more than is promised [default: nearest].
    #[arg(long, value_name = "WHERE")]
    pub approximations: Option<Approximations>,

    /// Print the buffer of this argument after the launch, counted from 0; may be repeated.
    #[arg(long = "print", value_name = "INDEX")]
    pub prints: Vec<usize>,

    /// Warp instructions after which the launch is ended.
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,

    /// What random buffers begin from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Compare two kernels of a project: both must be right, then both run in every round, in an order that is shuffled.
///
/// On a GPU the answer is one of three: B is faster, B is slower, or there is no measurable difference. On a virtual
/// device only bounds are compared.
///
/// Exit status 0 if both are right, 1 if one is not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Compare {
    /// A project folder.
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,

    /// What is compared with.
    #[arg(value_name = "A")]
    pub a: String,

    /// What is compared.
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

    /// What tells the time of a single launch on a GPU [default: events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

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

/// Sizes along three dimensions.
pub type Dimensions = [u32; 3];

/// What is looked for while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckSet {
    /// Values that nothing wrote, and data races.
    All,
    /// Values that nothing wrote.
    Memory,
    /// Nothing more.
    None,
}

/// Where results of approximate functions lie in their documented interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approximations {
    /// The value nearest to the exact one.
    Nearest,
    /// The lower end.
    Low,
    /// The upper end.
    High,
}

/// In which order threads go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Always the same.
    Deterministic,
    /// Blocks on all processors of the host.
    Parallel,
    /// As a seed decides.
    Adversarial(u64),
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

fn dimensions(text: &str) -> Result<Dimensions, String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > sizes.len() {
        return Err("expected at most three sizes, X,Y,Z".to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|error| format!("`{}`: {error}", part.trim()))?;
    }
    Ok(sizes)
}

fn schedule(text: &str) -> Result<Order, String> {
    match text.split_once(':') {
        None if text == "deterministic" => Ok(Order::Deterministic),
        None if text == "parallel" => Ok(Order::Parallel),
        Some(("adversarial", seed)) => {
            seed.parse().map(Order::Adversarial).map_err(|error| format!("`{seed}`: {error}"))
        }
        None | Some(_) => Err("expected deterministic, parallel or adversarial:SEED".to_owned()),
    }
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

    #[test]
    fn sizes_are_one_to_three_numbers() {
        let check = |text, expected| assert_eq!(dimensions(text).ok(), expected);
        check("8", Some([8, 1, 1]));
        check("8, 4,2", Some([8, 4, 2]));
        check("0", Some([0, 1, 1]));
        check("1,2,3,4", None);
        check("1,", None);
        check("-1", None);
        check("4294967296", None);
    }

    #[test]
    fn an_order_is_a_word_and_perhaps_a_seed() {
        let check = |text, expected| assert_eq!(schedule(text).ok(), expected);
        check("deterministic", Some(Order::Deterministic));
        check("parallel", Some(Order::Parallel));
        check("adversarial:7", Some(Order::Adversarial(7)));
        check("adversarial", None);
        check("parallel:2", None);
        check("random", None);
    }
}

/// Draw the window into a PNG, without a display or a GPU.
#[derive(Debug, Args)]
pub struct Picture {
    /// The file to write, then nothing else is; a project before it is opened first.
    #[arg(value_name = "[PROJECT] OUT.png", num_args = 1..=2, required = true)]
    pub paths: Vec<PathBuf>,

    /// Only this panel, such as `roofline` or `speed-of-light`.
    #[arg(long, value_name = "NAME")]
    pub panel: Option<String>,

    /// Edit, compare, search or teach.
    #[arg(long, value_name = "NAME", default_value = "edit")]
    pub layout: String,

    /// Dark, light or projector.
    #[arg(long, value_name = "NAME", default_value = "dark")]
    pub theme: String,

    /// Width and height in points.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x800", value_parser = size)]
    pub size: [f32; 2],

    /// Pixels in a point.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f32,

    /// The kernel that is worked on [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Run that kernel first.
    #[arg(long, conflicts_with = "run_all")]
    pub run: bool,

    /// Run every kernel first.
    #[arg(long)]
    pub run_all: bool,
}

fn size(text: &str) -> Result<[f32; 2], String> {
    let parts = text.split_once('x');
    let side = |text: &str| text.parse::<u16>().ok().filter(|side| (100..=8000).contains(side));
    let found = parts.and_then(|(width, height)| Some([side(width)?, side(height)?]));
    let found = found.ok_or("expected a width and a height from 100 to 8000, such as 1280x800")?;
    Ok(found.map(f32::from))
}

fn scale(text: &str) -> Result<f32, String> {
    let found = text.parse::<f32>().ok().filter(|scale| (0.5..=4.0).contains(scale));
    found.ok_or_else(|| "expected a factor from 0.5 to 4".to_owned())
}
