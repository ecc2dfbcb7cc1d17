//! Arguments of `launch`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{parameter, whole};

/// Sizes along three dimensions.
type Dimensions = [u32; 3];

/// Run one kernel with given buffers, and show every fault that it commits.
///
/// The virtual GPU runs any kernel exactly, without a GPU; it checks every access and can count what each source line
/// did. A GPU (`cuda:0`) runs the very same launch.
///
/// Each parameter of the kernel takes one SPEC, in order: a value (`u32:5`, `f32:1.5`, `bytes:0a1b…` for a struct), a
/// buffer (`buf:f32[1024]=normal`, `buf:u64[3]=1,2,3`, `buf:u8[64]=@bytes.bin`, `buf:f32[256]` for one that nothing has
/// written yet), an input that no kernel may write to (`in:f32[1024]=normal`), a null pointer (`null`), or the buffer of
/// an earlier argument once more (`same:0`, counted from 0). Types are i8 to i64, u8 to u64, f16,
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

    /// The kernel, if the file has several; `name<256>` instantiates a template.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// A further folder in which `#include` finds local headers of a file outside any project; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include_folders: Vec<PathBuf>,

    /// Blocks.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = dimensions)]
    pub grid: Dimensions,

    /// Threads of a block.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = dimensions)]
    pub block: Dimensions,

    /// Dynamic shared memory of a block.
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = whole::<u32>)]
    pub shared: u32,

    /// Make all blocks resident at once, so that `grid.sync()` works.
    #[arg(long)]
    pub cooperative: bool,

    /// For a kernel of a project: a parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// For a kernel of a project: the workload whose sizes set its compile-time constants [default: the first].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The next argument of the kernel; see above.
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    pub arguments: Vec<String>,

    /// The initial value of a `__constant__` or `__device__` variable: the variable's name in the PTX and a SPEC with a
    /// value (`scale=f32:2.5`, `limits=buf:i32[4]=1,2,3,4`); may be repeated.
    #[arg(long = "var", value_name = "NAME=SPEC", allow_hyphen_values = true)]
    pub variables: Vec<String>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`).
    #[arg(long, default_value = "virtual:h200", value_name = "DEVICE")]
    pub device: String,

    /// Checks besides bounds, alignment and writes to inputs, which are always on [default: all].
    #[arg(long, value_name = "WHICH")]
    pub checks: Option<CheckSet>,

    /// Compile with device debug information and no optimisation, as the source is written.
    #[arg(long)]
    pub as_written: bool,

    /// The order of threads: `deterministic`, `parallel` or `adversarial:SEED` [default: deterministic].
    #[arg(long, value_name = "ORDER", value_parser = schedule)]
    pub schedule: Option<Order>,

    /// Count instructions and memory accesses, in total and per source line, and model the least time of the launch on
    /// the device.
    #[arg(long)]
    pub counters: bool,

    /// With `--counters`: also show the time of each pipe and memory level, and the assumptions of the model.
    #[arg(long, requires = "counters")]
    pub assumptions: bool,

    /// The result of approximate functions (`sin.approx`, `ex2.approx`, division in `--use_fast_math`) within the
    /// interval that the PTX ISA documents: the exact value, or the lower or upper end, to test whether a kernel relies
    /// on more accuracy than documented [default: nearest].
    #[arg(long, value_name = "WHERE")]
    pub approximations: Option<Approximations>,

    /// Print the buffer of this argument after the launch, counted from 0; may be repeated.
    #[arg(long = "print", value_name = "INDEX")]
    pub prints: Vec<usize>,

    /// The order in which blocks start: `ascending`, `descending` or `random:SEED`; the latter two also number
    /// multiprocessors and warps differently [default: ascending].
    #[arg(long, value_name = "ORDER", value_parser = block_order)]
    pub block_order: Option<Blocks>,

    /// Maximum number of resident blocks, if lower than the device's.
    #[arg(long, value_name = "N")]
    pub resident_blocks: Option<NonZeroU32>,

    /// Warp instructions after which a virtual device ends the launch [default: 4294967296].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub max_steps: Option<u64>,

    /// Seconds after which a virtual device ends the launch [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,

    /// The seed of random buffers.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    pub seed: u64,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Checks while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckSet {
    /// Uninitialised values, and data races by the rules that CUDA code relies on.
    All,
    /// Uninitialised values, and data races by the PTX memory model alone (the strict mode of `docs/races.md`).
    Strict,
    /// Uninitialised values.
    Memory,
    /// Nothing more.
    None,
}

/// The result of approximate functions within their documented interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approximations {
    /// The value nearest to the exact one.
    Nearest,
    /// The lower end.
    Low,
    /// The upper end.
    High,
}

/// The order of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A fixed order.
    Deterministic,
    /// Blocks on all processors of the host.
    Parallel,
    /// A random order from a seed.
    Adversarial(u64),
}

/// The order in which blocks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Ascending block number.
    Ascending,
    /// The highest number first.
    Descending,
    /// A random order from a seed.
    Random(u64),
}

/// The error for wrong sizes.
const EXPECTED: &str =
    "expected one to three whole numbers of at most 4294967295, such as 128 or 16,16";

fn dimensions(text: &str) -> Result<Dimensions, String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > sizes.len() {
        return Err(EXPECTED.to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|_error| EXPECTED.to_owned())?;
    }
    Ok(sizes)
}

fn schedule(text: &str) -> Result<Order, String> {
    match text.split_once(':') {
        None if text == "deterministic" => Ok(Order::Deterministic),
        None if text == "parallel" => Ok(Order::Parallel),
        Some(("adversarial", seed)) => whole(seed).map(Order::Adversarial),
        None | Some(_) => Err("expected deterministic, parallel or adversarial:SEED".to_owned()),
    }
}

fn block_order(text: &str) -> Result<Blocks, String> {
    match text.split_once(':') {
        None if text == "ascending" => Ok(Blocks::Ascending),
        None if text == "descending" => Ok(Blocks::Descending),
        Some(("random", seed)) => whole(seed).map(Blocks::Random),
        None | Some(_) => Err("expected ascending, descending or random:SEED".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_limit_of_time_is_positive() {
        let check = |text, expected: Option<u64>| {
            assert_eq!(seconds(text).ok(), expected.map(Duration::from_millis), "{text}");
        };
        check("60", Some(60_000));
        check("0.5", Some(500));
        check("0", None);
        check("-1", None);
        check("nan", None);
        check("inf", None);
        check("1e300", None);
    }

    #[test]
    fn an_order_of_blocks_is_a_word_and_perhaps_a_seed() {
        let check = |text, expected| assert_eq!(block_order(text).ok(), expected, "{text}");
        check("ascending", Some(Blocks::Ascending));
        check("descending", Some(Blocks::Descending));
        check("random:7", Some(Blocks::Random(7)));
        check("random", None);
        check("descending:1", None);
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
