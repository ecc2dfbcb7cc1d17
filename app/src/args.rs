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

use std::ffi::{OsStr, OsString};
use std::num::IntErrorKind;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use lightbench_core::project::nearest::nearest;

pub use self::history::{Export, History, Import, Report, Selection, Sort};
pub use self::launch::{Approximations, Blocks, CheckSet, Launch, Order};
pub use self::launcher::Launcher;
pub use self::lessons::{Access, Lesson};
pub use self::measuring::{Clock, ComparedMode, ExtraMode, Measuring};
pub use self::models::{AddModel, ModelKind, Models, ModelsAction};
pub use self::numbers::{Calibrate, Explain, Tour};
pub use self::picture::Picture;
pub use self::profile::{HoldClocks, LaunchOnce, Profile};
pub use self::search::{Search, Searching, Sweep};
pub use self::suggest::Suggest;

/// A workbench for CUDA kernels: is one correct, how fast is it, and how far from the speed of light.
///
/// A project is a folder with a project.ron, which says what is computed, a reference that is right, and kernels that
/// compute it faster. A device sheet is what is known of a GPU: `virtual:h200` plays that GPU on a machine without one.
#[derive(Debug, Parser)]
#[command(
    name = "lightbench",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_help = EXAMPLES
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
///
/// Each has a variable of the environment too: those are read by the session, because clap lists an option as given in its
/// messages where only a variable is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Places")]
pub struct Places {
    /// Folder of a CUDA toolkit or of NVIDIA's wheels, instead of the one found [else: LIGHTBENCH_TOOLCHAIN].
    #[arg(long, global = true, value_name = "DIR")]
    pub toolchain: Option<PathBuf>,

    /// Folder for compiled kernels and a fetched compiler [else: LIGHTBENCH_CACHE, else your cache folder].
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Folder for settings, this machine's key, and histories that a project cannot hold [else: LIGHTBENCH_STATE, else
    /// your state folder].
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// What to begin with.
const EXAMPLES: &str = "\
Examples:
  lightbench new scale                  begin a project: a small kernel and its reference
  lightbench check scale                what the compiler says of its kernels: registers, occupancy
  lightbench run scale                  is each right, how fast, what limits it, what to try next
  lightbench run scale --kernel naive --device virtual:t4
  lightbench                            the window
  lightbench help run                   all about one command

Exit status: 0 all is well, 1 a kernel is at fault, 2 the request is wrong, 3 the machine lacks something or a
kernel was not judged, 130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the help text of each command stands at its arguments")]
pub enum Command {
    New(New),
    Check(Check),
    Run(Run),
    Compare(Compare),
    History(History),
    Report(Report),
    Explain(Explain),
    Suggest(Suggest),
    Sweep(Sweep),
    Search(Search),
    Launch(Launch),
    Access(Access),
    Profile(Profile),
    Tour(Tour),
    Lesson(Lesson),
    Audit(Audit),
    Picture(Picture),
    Export(Export),
    Launcher(Launcher),
    Import(Import),
    Devices(Devices),
    Calibrate(Calibrate),
    Models(Models),
    Doctor(Doctor),
    /// Serve requests of a parent process on standard input and output.
    #[command(hide = true)]
    Worker,
    #[command(hide = true)]
    LaunchOnce(LaunchOnce),
    #[command(hide = true)]
    HoldClocks(HoldClocks),
}

/// Compile kernels, and show registers, shared memory, occupancy and what the compiler says.
///
/// Needs no GPU: limits are those of the device sheet. A file of a project that is not understood is named with its line,
/// and
/// stops no other.
///
/// Exit status 0 if all compile, 1 if one does not or is not understood, 2 if the request is wrong, 3 if the machine lacks
/// something.
#[derive(Debug, Args)]
pub struct Check {
    /// A project folder, or one kernel file (.cu or .ptx).
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The device sheet to compile for, by which occupancy is computed (see `lightbench devices`).
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

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,

    /// What to print below the facts.
    #[command(flatten)]
    pub listings: Listings,
}

/// What to print below the facts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listings below the facts")]
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

/// Say which of two kernels of a project is faster.
///
/// Both must be right. Then both run in every round, in an order that is shuffled. Each is a kernel, the number of a run
/// (as `history` lists them), whose kernel is made again of the texts that it had, or
/// a library that the project names as a baseline, such as `cublas`.
///
/// On a GPU the answer is one of three: B is faster, B is slower, or there is no measurable difference. On a virtual
/// device only bounds are compared, and there are no libraries.
///
/// Exit status 0 if both passed, 1 if one failed, 2 if the request is wrong, 3 if the machine lacks something or one was
/// not judged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench compare sample-projects/rmsnorm naive warp-shuffle
  lightbench compare sample-projects/sgemm 12 cublas              run 12 of the history and a library")]
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

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only on this workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The seed of all random inputs: the same number draws the same ones again [default: drawn anew].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// What tells the time of a single launch on a GPU [default: the driver's time stamps where there are any, else events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

    /// Under which condition both run on a GPU [default: cold].
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ComparedMode>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Verify a project's kernels, time those that are right, and say what to try next.
///
/// Verified is: right results on fresh inputs, no fault, nothing left over, nothing hidden. Times are held against the
/// speed
/// of light: the least time that the device needs for the work. On a virtual device they are modelled, and said to be.
///
/// Exit status 0 if all passed, 1 if one failed, 2 if the request is wrong, 3 if the machine lacks something or a kernel
/// was not judged.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people type")]
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench run sample-projects/rmsnorm
  lightbench run sample-projects/rmsnorm/kernels/naive.cu --device virtual:t4 --no-times")]
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

    /// A quick look at one workload: it finds much that is wrong, and says of no kernel that it is right.
    #[arg(long)]
    pub screen: bool,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The seed of all random inputs: the same number draws the same ones again [default: drawn anew].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Only whether they are right, not how long they take.
    #[arg(long)]
    pub no_times: bool,

    /// Keep no record of the runs in the project's history.
    #[arg(long)]
    pub no_history: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,

    /// How times are taken, and what is measured besides.
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Examine the checker: would a cheat pass?
///
/// Tried are cheats made of the project's definition, its wrong kernels and its honest ones.
///
/// Exit status 0 if every cheat is caught, every wrong kernel fails as it says and every honest one passes, 1 if one does
/// not, 3 if some were not judged and none of the others is a hole.
#[derive(Debug, Args)]
pub struct Audit {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// The seed of all random inputs: the same number draws the same ones again [default: drawn anew].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Begin a project: a small working one, or one around an existing kernel.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench new scale                    a small project in the folder `scale`
  lightbench new mine --from kernel.cu    one around a kernel that there is")]
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

/// List the virtual devices, or every field of one with its source, or describe the GPUs of this machine.
#[derive(Debug, Args)]
pub struct Devices {
    /// The device sheet to show.
    #[arg(value_name = "SHEET", conflicts_with = "local")]
    pub sheet: Option<String>,

    /// Describe the GPUs of this machine: attributes of the driver, what the sheet of the card adds, and what disagrees.
    #[arg(long)]
    pub local: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Say what this machine has, what is missing, and the command that fixes it.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Fetch NVIDIA's compiler and disassembler with pip into the cache; `assembler` fetches
    /// ptxas, which only kernels written in PTX need.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "compiler")]
    pub fetch: Option<Fetch>,

    /// The result as JSON on standard output.
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

impl Arguments {
    /// What was typed, the program's name first.
    ///
    /// # Errors
    /// It is no request that there is; also help, where somebody asks for it.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        if let Some(said) = words.get(1).and_then(|word| no_command(word)) {
            return Err(Self::command().error(ErrorKind::InvalidSubcommand, said));
        }
        Self::try_parse_from(words)
    }
}

/// What is said of a first word that is no command and cannot be a project: neither a file nor written as a path.
fn no_command(word: &OsStr) -> Option<String> {
    let text = word.to_str()?;
    let is_word = text.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
    let command = Arguments::command();
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let is_meant = text.starts_with('-') || text == "help" || known.contains(&text);
    if !is_word || is_meant || text.is_empty() || Path::new(word).exists() {
        return None;
    }
    let near = nearest(text, known.iter().copied());
    let meant = near.map(|near| format!("; did you mean `lightbench {near}`?"));
    let meant = meant.unwrap_or_default();
    Some(format!("`{text}` is no command, and there is no such folder{meant}"))
}

/// A whole number, in words that say what is expected.
fn whole<Number: TryFrom<u64>>(text: &str) -> Result<Number, String> {
    let number: u64 = match text.trim().parse::<u64>() {
        Ok(number) => number,
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
            return Err("this number is too large".to_owned());
        }
        Err(_) => return Err("expected a whole number, 0 or more".to_owned()),
    };
    Number::try_from(number).map_err(|_error| "this number is too large".to_owned())
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
        Arguments::command().debug_assert();
    }

    #[test]
    fn what_is_typed_wrong_is_answered_in_words() {
        let check = |words: &[&str], says: &str| {
            let words = ["lightbench"].iter().chain(words).map(OsString::from);
            let error = Arguments::read(words).unwrap_err().to_string();
            assert!(error.contains(says), "{error}, expected {says}");
            assert!(!error.contains("in string"), "{error}");
        };
        check(&["chek", "x"], "did you mean `lightbench check`?");
        check(&["chek"], "`chek` is no command, and there is no such folder; did you mean");
        check(&["qqqqqq"], "`qqqqqq` is no command, and there is no such folder\n");
        check(&["run", "--seed", "abc"], "expected a whole number, 0 or more");
        check(&["run", "--seed", "99999999999999999999"], "this number is too large");
        check(&["launch", "x.cu", "--grid", "99999999999", "--block", "1"], "at most 4294967295");
        check(&["launch", "x.cu", "--grid", "1,a", "--block", "1"], "expected one to three whole");
        for folder in ["./nowhere", "no/where", "src"] {
            let words = ["lightbench", folder].map(OsString::from);
            assert_eq!(Arguments::read(words).unwrap().open, Some(PathBuf::from(folder)));
        }
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
