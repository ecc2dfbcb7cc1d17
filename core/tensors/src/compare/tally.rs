//! Counts wrong elements and records the first, the worst and their positions.

use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::launch::expectation::WrongKind;

use super::{Comparison, ErrorMap, Mismatch, OutputError};

/// Maximum cells of an [`ErrorMap`] across and down.
const CELLS: (u64, u64) = (64, 16);

/// The defect of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// NaN or infinity where the reference is finite.
    Special,
    /// Another value.
    Value,
    /// Nothing was written.
    Unwritten,
}

/// A wrong element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejected {
    /// In the order of indices.
    pub(super) element: u64,
    pub(super) fault: Fault,
    pub(super) found: ScalarValue,
    pub(super) expected: ScalarValue,
    pub(super) ulps: Option<f64>,
    pub(super) accepted: Option<f64>,
    /// The error as a multiple of the tolerance, then the error itself.
    pub(super) badness: (f64, f64),
}

impl Rejected {
    /// An element that only equality would have made right.
    pub(super) fn unequal(
        element: u64,
        fault: Fault,
        found: ScalarValue,
        expected: ScalarValue,
    ) -> Self {
        let error = (found.as_real() - expected.as_real()).abs();
        let badness = (f64::INFINITY, error);
        Self { element, fault, found, expected, ulps: None, accepted: None, badness }
    }
}

/// Statistics of the compared elements.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    dims: Vec<u64>,
    count: u64,
    unwritten: bool,
    special: bool,
    first: Option<Rejected>,
    worst: Option<Rejected>,
    map: ErrorMap,
    /// The largest error as a fraction of the tolerance.
    fraction: f64,
}

impl Tally {
    pub(super) fn new(dims: &[u64]) -> Self {
        let map = ErrorMap::default();
        let dims = dims.to_vec();
        let (count, fraction) = (0, 0.0);
        let (unwritten, special, first, worst) = (false, false, None, None);
        Self { dims, count, unwritten, special, first, worst, map, fraction }
    }

    /// Records an accepted error, as a fraction of the tolerance.
    pub(super) fn accept(&mut self, fraction: f64) {
        self.fraction = self.fraction.max(fraction);
    }

    /// A wrong element; they come in the order of their indices.
    pub(super) fn reject(&mut self, rejected: Rejected) {
        self.count += 1;
        self.unwritten |= rejected.fault == Fault::Unwritten;
        self.special |= rejected.fault == Fault::Special;
        self.first.get_or_insert(rejected);
        let worse = |known: &Rejected| {
            let ((fraction, error), (most, largest)) = (rejected.badness, known.badness);
            fraction > most || (fraction >= most && error > largest)
        };
        if self.worst.as_ref().is_none_or(worse) {
            self.worst = Some(rejected);
        }
        self.accept(rejected.badness.0.min(f64::MAX));
        let grid = Grid::new(&self.dims);
        if self.map.counts.is_empty() {
            self.map = grid.map();
        }
        if let Some(count) = self.map.counts.get_mut(grid.cell(rejected.element)) {
            *count += 1;
        }
    }

    /// The result for this number of compared elements. `merely` is the kind of failure if the wrong elements are
    /// finite.
    pub(super) fn finish(self, tensor: usize, compared: u64, merely: WrongKind) -> Comparison {
        let worst_fraction = self.fraction;
        let kind = match (self.unwritten, self.special) {
            (true, _) => WrongKind::Unwritten,
            (false, true) => WrongKind::Nan,
            (false, false) => merely,
        };
        let mismatch = |rejected: Rejected| rejected.mismatch(&self.dims);
        let wrong = self.first.map(|first| OutputError {
            kind,
            count: self.count,
            first: Some(mismatch(first)),
            worst: self.worst.map(mismatch),
            root_mean_square: None,
            distribution: None,
            map: self.map,
        });
        Comparison { tensor, compared, wrong, worst_fraction }
    }
}

impl Rejected {
    fn mismatch(self, dims: &[u64]) -> Mismatch {
        let mut index = vec![0; dims.len()];
        let mut rest = self.element;
        for (slot, dim) in index.iter_mut().zip(dims).rev() {
            *slot = rest % dim;
            rest /= dim;
        }
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Mismatch {
            index,
            found: self.found,
            expected: self.expected,
            ulps: finite(self.ulps),
            accepted: finite(self.accepted),
        }
    }
}

/// The cells laid on a tensor.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// The last dimension, and the cells across it.
    across: (u64, u64),
    /// All other dimensions, and the cells down them.
    down: (u64, u64),
}

impl Grid {
    fn new(dims: &[u64]) -> Self {
        let (width, height) = match dims.split_last() {
            Some((last, others)) => (*last, others.iter().product()),
            None => (1, 1),
        };
        Self { across: (width, width.min(CELLS.0)), down: (height, height.min(CELLS.1)) }
    }

    fn map(self) -> ErrorMap {
        let sizes = |(length, cells): (u64, u64)| {
            // The first index of cell c is the least that, times cells, reaches c times the length.
            (0..cells).map(move |cell| {
                ((cell + 1) * length).div_ceil(cells) - (cell * length).div_ceil(cells)
            })
        };
        let sizes: Vec<u64> = sizes(self.down)
            .flat_map(|height| sizes(self.across).map(move |width| width * height))
            .collect();
        ErrorMap { columns: self.across.1 as usize, counts: vec![0; sizes.len()], sizes }
    }

    fn cell(self, element: u64) -> usize {
        let ((width, columns), (height, rows)) = (self.across, self.down);
        let (row, column) = (element / width, element % width);
        (row * rows / height * columns + column * columns / width) as usize
    }
}
