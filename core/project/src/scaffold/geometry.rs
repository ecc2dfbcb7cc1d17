//! The first launch configuration of a kernel: from a launch in the source if it can be read, else a guess.

use lightbench_cuda_source::host_launch::{self, HostLaunch};
use lightbench_cuda_source::usage::Usage;
use lightbench_cuda_source::{Signature, Source};

use super::templates::Templates;

const MOST_THREADS: u64 = 1024;

pub(super) struct Launch {
    pub(super) grid: Vec<String>,
    pub(super) block: Block,
    /// Dynamic shared memory, as an expression.
    pub(super) shared: Option<Shared>,
    pub(super) cooperative: bool,
}

pub(super) struct Block {
    /// Expressions over parameters.
    pub(super) extents: Vec<String>,
    pub(super) origin: Origin,
}

pub(super) struct Shared {
    pub(super) bytes: String,
    pub(super) origin: Origin,
}

/// The origin of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    HostLaunch,
    LaunchBounds,
    Nothing,
}

pub(super) fn block(
    source: &Source<'_>,
    signature: &Signature,
    templates: &Templates,
    usage: &Usage,
    host: &HostLaunch,
) -> Block {
    let bounds = signature.launch_bounds.as_deref();
    if let Some(tuned) = bounds.and_then(|bounds| templates.tuned(bounds)) {
        return Block { extents: vec![tuned.name.clone()], origin: Origin::LaunchBounds };
    }
    if let Some(extents) = host.block.as_deref().and_then(|text| from_host(source, templates, text))
    {
        return Block { extents, origin: Origin::HostLaunch };
    }
    let threads = bounds.and_then(|bounds| source.integer(bounds)).map(|threads| vec![threads]);
    if let Some(extents) =
        threads.and_then(|threads| fitting(&threads)).filter(|_| usage.block_rank < 2)
    {
        return Block { extents, origin: Origin::LaunchBounds };
    }
    let extents = match usage.block_rank {
        0 | 1 => vec![256],
        2 => vec![16, 16],
        _ => vec![8, 8, 4],
    };
    Block { extents: extents.iter().map(u64::to_string).collect(), origin: Origin::Nothing }
}

/// A block size that is also a named template argument is that parameter; a literal may coincide by chance.
fn from_host(source: &Source<'_>, templates: &Templates, text: &str) -> Option<Vec<String>> {
    let literal = text.starts_with(|letter: char| letter.is_ascii_digit());
    let passed =
        templates.tuned.iter().find(|tuned| !literal && tuned.host.as_deref() == Some(text));
    match passed.filter(|tuned| !tuned.guessed && tuned.value <= MOST_THREADS) {
        Some(tuned) => Some(vec![tuned.name.clone()]),
        None => host_launch::extents(source, text).and_then(|extents| fitting(&extents)),
    }
}

fn fitting(extents: &[u64]) -> Option<Vec<String>> {
    let threads = extents.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))?;
    (1..=MOST_THREADS).contains(&threads).then(|| extents.iter().map(u64::to_string).collect())
}

/// The launch for a block; `axes` are the problem's sizes, of which tensors use the first two.
pub(super) fn launch(
    source: &Source<'_>,
    usage: &Usage,
    host: &HostLaunch,
    block: Block,
    axes: &[&str],
) -> Launch {
    let grid = grid(usage, &block, axes);
    let bytes = host.shared.as_deref().and_then(|text| source.integer(text));
    let shared = match bytes {
        Some(0) | None if !usage.dynamic_shared => None,
        Some(bytes) => Some(Shared { bytes: bytes.to_string(), origin: Origin::HostLaunch }),
        None => {
            let bytes = format!("8 * {}", block.extents.join(" * "));
            Some(Shared { bytes, origin: Origin::Nothing })
        }
    };
    Launch { grid, block, shared, cooperative: usage.grid_sync }
}

fn grid(usage: &Usage, block: &Block, axes: &[&str]) -> Vec<String> {
    let first = axes.first().copied().unwrap_or("1");
    let second = axes.get(1).copied().unwrap_or(first);
    let width = |dimension: usize| block.extents.get(dimension).map_or("1", String::as_str);
    let all = match axes {
        [rows, columns, ..] => format!("{rows} * {columns}"),
        _ => first.to_owned(),
    };
    match (usage.grid_rank, usage.block_selects) {
        (0, _) => vec!["1".to_owned()],
        (1, true) => vec![first.to_owned()],
        (1, false) => vec![format!("ceil_div({all}, {})", block.extents.join(" * "))],
        (rank, true) => {
            [second, first, "1"].iter().take(rank).map(|axis| (*axis).to_owned()).collect()
        }
        (rank, false) => {
            let tiles = [
                format!("ceil_div({second}, {})", width(0)),
                format!("ceil_div({first}, {})", width(1)),
                format!("ceil_div({}, {})", axes.get(2).copied().unwrap_or("1"), width(2)),
            ];
            tiles.into_iter().take(rank).collect()
        }
    }
}
