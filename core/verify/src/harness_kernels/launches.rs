//! The launches of the device code: which kernel, how many threads, what it takes.

use lightbench_device::{Argument, BufferId, Launch, ModuleId};
use lightbench_tensors::encoding::comparison::ComparisonEncoding;
use lightbench_tensors::encoding::input::InputEncoding;

/// Threads that judge a chunk together.
const LANES: u64 = 8;

/// Fills a buffer; `table` holds what [`InputEncoding::table`], if it has one.
#[must_use]
pub fn make(
    module: ModuleId,
    buffer: BufferId,
    making: &InputEncoding,
    table: Option<BufferId>,
) -> Launch {
    let arguments = vec![Argument::Buffer(buffer), Argument::Bytes(making.bytes()), or_null(table)];
    Launch::linear(module, "lightbench_make", making.places, arguments)
}

/// Leaves the first byte that is not what was made in `changed`, which holds all ones before.
#[must_use]
pub fn still(
    module: ModuleId,
    buffer: BufferId,
    (making, table): (&InputEncoding, Option<BufferId>),
    changed: BufferId,
) -> Launch {
    let numbers = Argument::Bytes(making.bytes());
    let arguments =
        vec![Argument::Buffer(buffer), numbers, or_null(table), Argument::Buffer(changed)];
    Launch::linear(module, "lightbench_still", making.places, arguments)
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
    comparing: &ComparisonEncoding,
    (squares, judged): (BufferId, BufferId),
) -> Launch {
    let buffers = [found, expected, magnitudes].map(Argument::Buffer);
    let results = [squares, judged].map(Argument::Buffer);
    let numbers = Argument::Bytes(comparing.bytes());
    let arguments = buffers.into_iter().chain([numbers]).chain(results).collect();
    Launch::linear(module, "lightbench_compare", threads(comparing), arguments)
}

/// Adds up the sums of chunks; `groups` takes those of each group.
#[must_use]
pub fn add_squares(
    module: ModuleId,
    comparing: &ComparisonEncoding,
    (chunks, groups): (BufferId, BufferId),
) -> Launch {
    let count = Argument::Bytes(comparing.chunks().to_le_bytes().to_vec());
    let arguments = vec![Argument::Buffer(chunks), count, Argument::Buffer(groups)];
    Launch::linear(module, "lightbench_add_squares", comparing.groups(), arguments)
}

/// Judges floats by equality with the rounded reference.
#[must_use]
pub fn compare_exactly(
    module: ModuleId,
    Compared { found, expected }: Compared,
    magnitudes: BufferId,
    comparing: &ComparisonEncoding,
    judged: BufferId,
) -> Launch {
    let buffers = [found, expected, magnitudes].map(Argument::Buffer);
    let rest = [Argument::Bytes(comparing.bytes()), Argument::Buffer(judged)];
    let arguments = buffers.into_iter().chain(rest).collect();
    Launch::linear(module, "lightbench_compare_exactly", threads(comparing), arguments)
}

/// Judges anything by equality of bits.
#[must_use]
pub fn compare_bits(
    module: ModuleId,
    Compared { found, expected }: Compared,
    comparing: &ComparisonEncoding,
    judged: BufferId,
) -> Launch {
    let buffers = [found, expected].map(Argument::Buffer);
    let rest = [Argument::Bytes(comparing.bytes()), Argument::Buffer(judged)];
    let arguments = buffers.into_iter().chain(rest).collect();
    Launch::linear(module, "lightbench_compare_bits", threads(comparing), arguments)
}

/// Counts groups with results that are not exact, and groups with one that half precision cannot hold.
#[must_use]
pub fn survey(
    module: ModuleId,
    (expected, magnitudes): (BufferId, BufferId),
    comparing: &ComparisonEncoding,
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
    Launch::linear(module, "lightbench_survey", threads(comparing), arguments)
}

/// Adds the digest of a buffer of so many bytes to the two numbers in `digest`.
#[must_use]
pub fn digest(module: ModuleId, buffer: BufferId, bytes: u64, digest: BufferId) -> Launch {
    let arguments = vec![
        Argument::Buffer(buffer),
        Argument::Bytes(bytes.to_le_bytes().to_vec()),
        Argument::Buffer(digest),
    ];
    Launch::linear(module, "lightbench_digest", bytes.div_ceil(8), arguments)
}

fn or_null(buffer: Option<BufferId>) -> Argument {
    buffer.map_or_else(|| Argument::Bytes(vec![0; 8]), Argument::Buffer)
}

fn threads(comparing: &ComparisonEncoding) -> u64 {
    comparing.chunks().saturating_mul(LANES)
}
