//! The launches of the device code: which kernel, how many threads, what it takes.

use super::comparing::Comparing;
use super::making::Making;
use crate::device::{Argument, BufferId, Launch, ModuleId};

/// Threads of a block.
const THREADS: u32 = 256;

/// Blocks of a grid at most; each thread does as much as is left.
const MOST_BLOCKS: u64 = 8192;

/// Threads that judge a chunk together.
const LANES: u64 = 8;

/// Stretches of memory that one launch looks at.
pub const MOST_EXTENTS: usize = 64;

/// Fills a buffer; `table` holds what [`Making::table`] says, where it says anything.
#[must_use]
pub fn make(
    module: ModuleId,
    buffer: BufferId,
    making: &Making,
    table: Option<BufferId>,
) -> Launch {
    let arguments = vec![Argument::Buffer(buffer), Argument::Bytes(making.bytes()), or_null(table)];
    launch(module, "lightbench_make", making.places, arguments)
}

/// Leaves the first byte that is not what was made in `changed`, which holds all ones before.
#[must_use]
pub fn still(
    module: ModuleId,
    buffer: BufferId,
    (making, table): (&Making, Option<BufferId>),
    changed: BufferId,
) -> Launch {
    let numbers = Argument::Bytes(making.bytes());
    let arguments =
        vec![Argument::Buffer(buffer), numbers, or_null(table), Argument::Buffer(changed)];
    launch(module, "lightbench_still", making.places, arguments)
}

/// An output beside what it should be.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// What a candidate left.
    pub found: BufferId,
    /// What the reference computed.
    pub expected: BufferId,
}

/// Judges floats by a bound made of magnitudes; `squares` takes the sums of each chunk, `judged` the rest.
#[must_use]
pub fn compare(
    module: ModuleId,
    Compared { found, expected }: Compared,
    magnitudes: BufferId,
    comparing: &Comparing,
    (squares, judged): (BufferId, BufferId),
) -> Launch {
    let buffers = [found, expected, magnitudes].map(Argument::Buffer);
    let results = [squares, judged].map(Argument::Buffer);
    let numbers = Argument::Bytes(comparing.bytes());
    let arguments = buffers.into_iter().chain([numbers]).chain(results).collect();
    launch(module, "lightbench_compare", threads(comparing), arguments)
}

/// Judges floats by equality with the rounded reference.
#[must_use]
pub fn compare_exactly(
    module: ModuleId,
    Compared { found, expected }: Compared,
    magnitudes: BufferId,
    comparing: &Comparing,
    judged: BufferId,
) -> Launch {
    let buffers = [found, expected, magnitudes].map(Argument::Buffer);
    let rest = [Argument::Bytes(comparing.bytes()), Argument::Buffer(judged)];
    let arguments = buffers.into_iter().chain(rest).collect();
    launch(module, "lightbench_compare_exactly", threads(comparing), arguments)
}

/// Judges anything by equality of bits.
#[must_use]
pub fn compare_bits(
    module: ModuleId,
    Compared { found, expected }: Compared,
    comparing: &Comparing,
    judged: BufferId,
) -> Launch {
    let buffers = [found, expected].map(Argument::Buffer);
    let rest = [Argument::Bytes(comparing.bytes()), Argument::Buffer(judged)];
    let arguments = buffers.into_iter().chain(rest).collect();
    launch(module, "lightbench_compare_bits", threads(comparing), arguments)
}

/// Counts groups with results that are not exact, and groups with one that half precision cannot hold.
#[must_use]
pub fn survey(
    module: ModuleId,
    (expected, magnitudes): (BufferId, BufferId),
    comparing: &Comparing,
    limit: f64,
    survey: BufferId,
) -> Launch {
    let arguments = vec![
        Argument::Buffer(expected),
        Argument::Buffer(magnitudes),
        Argument::Bytes(comparing.bytes()),
        Argument::Bytes(limit.to_le_bytes().to_vec()),
        Argument::Buffer(survey),
    ];
    launch(module, "lightbench_survey", threads(comparing), arguments)
}

/// Whether stretches of memory, each a first address and a length, hold one byte throughout. `changed` has two numbers
/// for each: all ones and 0 before; the first byte that does not, and the one behind the last such, after.
#[must_use]
pub fn holds(module: ModuleId, extents: &[(u64, u64)], byte: u8, changed: Argument) -> Launch {
    let looked_at = &extents[..extents.len().min(MOST_EXTENTS)];
    let mut table: Vec<u8> = looked_at
        .iter()
        .flat_map(|(start, length)| [*start, *length])
        .flat_map(u64::to_le_bytes)
        .collect();
    table.resize(MOST_EXTENTS * 16, 0);
    let longest = looked_at.iter().map(|(_, length)| *length).max().unwrap_or(0);
    let byte = Argument::Bytes(u64::from(byte).to_le_bytes().to_vec());
    let mut launch =
        launch(module, "lightbench_holds", longest, vec![Argument::Bytes(table), byte, changed]);
    launch.grid[1] = u32::try_from(looked_at.len().max(1)).unwrap_or(1);
    launch
}

/// Adds the digest of a buffer of so many bytes to the two numbers in `digest`.
#[must_use]
pub fn digest(module: ModuleId, buffer: BufferId, bytes: u64, digest: BufferId) -> Launch {
    let arguments = vec![
        Argument::Buffer(buffer),
        Argument::Bytes(bytes.to_le_bytes().to_vec()),
        Argument::Buffer(digest),
    ];
    launch(module, "lightbench_digest", bytes.div_ceil(8), arguments)
}

fn or_null(buffer: Option<BufferId>) -> Argument {
    buffer.map_or_else(|| Argument::Bytes(vec![0; 8]), Argument::Buffer)
}

fn threads(comparing: &Comparing) -> u64 {
    comparing.chunks().saturating_mul(LANES)
}

fn launch(module: ModuleId, kernel: &str, threads: u64, arguments: Vec<Argument>) -> Launch {
    let blocks = threads.div_ceil(u64::from(THREADS)).clamp(1, MOST_BLOCKS);
    Launch {
        module,
        kernel: kernel.to_owned(),
        grid: [u32::try_from(blocks).unwrap_or(1), 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        arguments,
    }
}
