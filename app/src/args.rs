//! Arguments of the command line.
//!
//! Only this module and `session.rs` read the environment; all other code receives values.

mod agents;
mod eval;
mod history;
mod import;
mod launch;
mod launcher;
mod lessons;
mod measuring;
mod models;
mod numbers;
mod picture;
mod profile;
mod search;
mod shell;
mod suggest;

use std::ffi::{OsStr, OsString};
use std::num::IntErrorKind;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use lightbench_core::project::nearest::nearest;

pub use self::agents::{Accept, AgentProgram, Mcp};
pub use self::eval::{Eval, Evaluating, Rejudge};
pub use self::history::{Export, ExportForm, History, Report, Selection, Sort};
pub use self::import::Import;
pub use self::launch::{Approximations, Blocks, CheckSet, Launch, Order};
pub use self::launcher::Launcher;
pub use self::lessons::{Access, Lesson, Timeline};
pub use self::measuring::{Clock, ComparedMode, ExtraMode, Measuring};
pub use self::models::{AddModel, ModelKind, Models, ModelsAction};
pub use self::numbers::{Calibrate, Explain, Tour};
pub use self::picture::Picture;
pub use self::profile::{HoldClocks, LaunchOnce, Profile};
pub use self::search::{Search, Searching, Sweep};
pub use self::shell::{Completions, Manual};
pub use self::suggest::Suggest;

/// A workbench for CUDA kernels: is one correct, how fast is it, and how far from the speed of light.
///
/// A project is a folder with a project.ron, which defines the computation, a correct reference, and kernels that
/// compute the same faster. A device sheet lists the properties of a GPU: `virtual:h200` simulates that GPU on a
/// machine without one.
#[derive(Debug, Parser)]
#[command(
    name = "lightbench",
    version,
    max_term_width = 100,
    override_usage = "lightbench [OPTIONS] [PROJECT]\n       lightbench [OPTIONS] <COMMAND>",
    after_help = EXAMPLES
)]
pub struct Arguments {
    /// The command; without one the window opens.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// A project folder, or a kernel file of one, to open in the window.
    #[arg(value_name = "PROJECT")]
    pub open: Option<PathBuf>,

    /// Paths.
    #[command(flatten)]
    pub places: Places,
}

/// Paths that replace the default ones.
///
/// Each has an environment variable too. The session reads those, because clap would report an option as given where
/// only its variable is set.
#[derive(Debug, Args)]
#[command(next_help_heading = "Places")]
pub struct Places {
    /// Folder of a CUDA toolkit or of NVIDIA's wheels, instead of the detected one [else: LIGHTBENCH_TOOLCHAIN].
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

/// Examples in the help text.
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

/// The commands.
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
    Timeline(Timeline),
    Profile(Profile),
    Tour(Tour),
    Lesson(Lesson),
    Audit(Audit),
    Eval(Eval),
    Rejudge(Rejudge),
    Picture(Picture),
    Mcp(Mcp),
    Accept(Accept),
    Export(Export),
    Launcher(Launcher),
    Import(Import),
    Devices(Devices),
    Calibrate(Calibrate),
    Models(Models),
    Doctor(Doctor),
    Completions(Completions),
    #[command(hide = true)]
    Manual(Manual),
    /// Serve requests of a parent process on standard input and output.
    #[command(hide = true)]
    Worker,
    #[command(hide = true)]
    LaunchOnce(LaunchOnce),
    #[command(hide = true)]
    HoldClocks(HoldClocks),
}

/// Compile kernels, and show registers, shared memory, occupancy and compiler messages.
///
/// Needs no GPU: limits are those of the device sheet. A project file that cannot be read is reported with its line and
/// does not stop the others.
///
/// Exit status 0 if all compile, 1 if one does not compile or cannot be read, 2 if the request is wrong, 3 if the
/// machine lacks something.
#[derive(Debug, Args)]
pub struct Check {
    /// A project folder, or one kernel file (.cu or .ptx).
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The device sheet to compile for, also used for occupancy (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// Only this kernel, in detail. In a file without a launch block: this `__global__` function.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The workload whose sizes determine grids and constants [default: the first timed one].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// A further folder in which `#include` finds local headers of a file outside any project; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include_folders: Vec<PathBuf>,

    /// Compile with device debug information and no optimisation, as the source is written.
    #[arg(long)]
    pub as_written: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,

    /// Listings below the facts.
    #[command(flatten)]
    pub listings: Listings,
}

/// Listings below the facts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listings below the facts")]
pub struct Listings {
    /// The machine instructions, with their source lines.
    #[arg(long)]
    pub sass: bool,

    /// The PTX, with its source lines.
    #[arg(long)]
    pub ptx: bool,

    /// All text added before the kernel's source.
    #[arg(long)]
    pub show_prelude: bool,
}

/// Compare the times of two kernels of a project.
///
/// Both must pass verification. Then both run in every round, in shuffled order. Each is a kernel, the number of a run
/// (as `history` lists them), whose kernel is compiled again from its stored texts, or a library that the project names
/// as a baseline, such as `cublas`.
///
/// On a GPU the result is one of three: B is faster, B is slower, or there is no measurable difference. On a virtual
/// device only bounds are compared, and there are no libraries.
///
/// Exit status 0 if both passed, 1 if one failed, 2 if the request is wrong, 3 if the machine lacks something or one
/// was not judged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench compare sample-projects/rmsnorm naive warp-shuffle
  lightbench compare sample-projects/sgemm 12 cublas              run 12 of the history and a library")]
pub struct Compare {
    /// A project folder.
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,

    /// The base of the comparison: a kernel, a run or a library.
    #[arg(value_name = "A")]
    pub a: String,

    /// The compared candidate: a kernel, a run or a library.
    #[arg(value_name = "B")]
    pub b: String,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only this workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The seed of all random inputs; the same seed gives the same inputs [default: random].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// The clock for a single launch on a GPU [default: the driver's time stamps if available, else events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

    /// The cache condition of both on a GPU [default: cold].
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ComparedMode>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Verify a project's kernels, time those that pass, and advise what to try next.
///
/// Verification checks for correct results on fresh inputs, faults, and hidden state between launches. Times are
/// compared with the speed of light: the least time that the device needs for the work. On a virtual device times are
/// modelled, and marked as such.
///
/// Exit status 0 if all passed, 1 if one failed, 2 if the request is wrong, 3 if the machine lacks something or a
/// kernel was not judged.
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

    /// Screen one workload: finds many failures quickly, but gives no verdict.
    #[arg(long)]
    pub screen: bool,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The seed of all random inputs; the same seed gives the same inputs [default: random].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Verify only; take no times.
    #[arg(long)]
    pub no_times: bool,

    /// Do not append the runs to the project's history.
    #[arg(long)]
    pub no_history: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,

    /// Timing, and additional measurements.
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Audit the checker: would a cheat pass?
///
/// Evaluates cheats generated from the project's definition, the kernels that must fail and the kernels that must pass.
/// With `--attack`, mutates the project's kernels instead: removes barriers, fences and guards, exchanges terms of
/// indices, shortens loops, changes constants and types.
///
/// Exit status 0 if every cheat is caught, every wrong kernel fails as declared and every correct one passes, 1 if one
/// does not, 3 if some were not judged and no cheat passed. With `--attack`, 1 if a mutant passes with larger errors than
/// its kernel.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench audit sample-projects/softmax --strict
  lightbench audit sample-projects/transpose --attack --budget 200 --journal attack.jsonl")]
pub struct Audit {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// The seed of all random inputs; the same seed gives the same inputs [default: random].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Exit with status 1 if the definition leaves a gap that a wrong kernel may use.
    #[arg(long)]
    pub strict: bool,

    /// Mutate the project's kernels, and count the mutants that pass.
    #[arg(long, conflicts_with = "strict")]
    pub attack: bool,

    /// Largest number of mutants.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "attack")]
    pub budget: usize,

    /// Mutate this kernel only.
    #[arg(long, value_name = "NAME", requires = "attack")]
    pub kernel: Option<String>,

    /// Append each result to this file, and do not evaluate mutants again that it has.
    #[arg(long, value_name = "FILE", requires = "attack")]
    pub journal: Option<PathBuf>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Create a project: a small working one, or one around an existing kernel.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench new scale                    a small project in the folder `scale`
  lightbench new mine --from kernel.cu    one around a kernel that there is")]
pub struct New {
    /// The folder to create.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Read the signature of a `__global__` function in this file.
    #[arg(long, value_name = "FILE.cu")]
    pub from: Option<PathBuf>,

    /// The function, if the file has several.
    #[arg(long, value_name = "NAME", requires = "from")]
    pub kernel: Option<String>,

    /// A further folder in which `#include` finds local headers of the file; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR", requires = "from")]
    pub include_folders: Vec<PathBuf>,
}

/// List the virtual devices, or every field of one with its source, or describe the GPUs of this machine.
#[derive(Debug, Args)]
pub struct Devices {
    /// The device sheet to show.
    #[arg(value_name = "SHEET", conflicts_with = "local")]
    pub sheet: Option<String>,

    /// Describe the GPUs of this machine: attributes from the driver, additions from the card's sheet, and
    /// contradictions.
    #[arg(long)]
    pub local: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Report what this machine has, what is missing, and the command that fixes it.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Fetch NVIDIA's compiler and disassembler with pip into the cache, for the driver of this machine: NVRTC 12.9 for
    /// drivers 525 to 575, else 13.5. `compiler-12` and `compiler-13` name one; `assembler` fetches ptxas, which only
    /// kernels written in PTX or Triton need.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "compiler")]
    pub fetch: Option<Fetch>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fetch {
    /// NVRTC, nvdisasm and cuobjdump, for the driver.
    Compiler,
    /// The same with NVRTC 13.5, for drivers 580 and newer.
    #[value(name = "compiler-13")]
    Compiler13,
    /// The same with NVRTC 12.9 and its ptxas, for drivers 525 and newer.
    #[value(name = "compiler-12")]
    Compiler12,
    /// ptxas, for the driver.
    Assembler,
}

impl Arguments {
    /// Parses the arguments; the first one is the program's name.
    ///
    /// # Errors
    /// The arguments are invalid, or request the help text.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        let refused = |kind, said: String| Err(Self::command().error(kind, said));
        if let Some(said) = words.get(1).and_then(|word| no_command(word)) {
            return refused(ErrorKind::InvalidSubcommand, said);
        }
        let parsed = Self::try_parse_from(words)?;
        match (&parsed.command, &parsed.open) {
            (Some(_), Some(open)) => {
                let said =
                    format!("`{}` stands before the command; write it behind", open.display());
                refused(ErrorKind::ArgumentConflict, said)
            }
            // Options of the program may precede the word.
            (None, Some(open)) => match no_command(open.as_os_str()) {
                Some(said) => refused(ErrorKind::InvalidSubcommand, said),
                None => Ok(parsed),
            },
            (Some(_) | None, None) => Ok(parsed),
        }
    }
}

/// The error for a first argument that is neither a command nor a path.
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

/// Parses a whole number; errors state what is expected.
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
        check(&["--cache", "c", "chek"], "`chek` is no command");
        check(&["src", "run"], "`src` stands before the command; write it behind");
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
    fn options_of_the_program_stand_on_both_sides_of_the_command() {
        for words in [["--cache", "c", "doctor"], ["doctor", "--cache", "c"]] {
            let words = ["lightbench"].iter().chain(&words).map(OsString::from);
            let parsed = Arguments::read(words).unwrap();
            assert!(matches!(parsed.command, Some(Command::Doctor(_))), "{parsed:?}");
            assert_eq!(parsed.places.cache, Some(PathBuf::from("c")));
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
