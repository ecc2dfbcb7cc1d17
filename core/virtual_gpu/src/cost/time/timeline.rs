//! What the warps of a block do at each time, as replayed: when they issue, what they wait for, and when asynchronous
//! copies and products are under way.

use std::collections::BTreeMap;

use lightbench_units::{Bytes, Hertz};

use super::StallReason;

/// The timeline of the first block of a multiprocessor, beside the other resident ones. Times are cycles after the start
/// of the block.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The time at which the last warp of the block ends.
    pub cycles: f64,
    /// Cycles a second.
    pub clock: Hertz,
    /// The warps of the block.
    pub warps: Vec<WarpTimeline>,
    /// Asynchronous copies of the block into shared memory, in the order of their start.
    pub copies: Vec<CopyInterval>,
    /// Asynchronous products of the block, in the order of their start.
    pub products: Vec<ProductInterval>,
}

/// One warp.
#[derive(Clone, Debug, PartialEq)]
pub struct WarpTimeline {
    /// Its index in the block.
    pub warp: u32,
    /// Its spans, one after the other.
    pub spans: Vec<Span>,
    /// The number of its asynchronous copies into shared memory.
    pub copies: usize,
    /// The number of its asynchronous products.
    pub products: usize,
}

/// What a warp does for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The first cycle.
    pub start: f64,
    /// The cycle after the last one.
    pub end: f64,
    /// What it does.
    pub activity: Activity,
}

/// What a warp does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// It issues instructions, or waits for its turn at a pipe.
    Runs,
    /// It waits.
    Waits(StallReason),
}

/// An asynchronous copy into shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyInterval {
    /// The warp that issued it.
    pub warp: u32,
    /// The cycle at which it was issued.
    pub start: f64,
    /// The cycle at which all bytes have arrived.
    pub end: f64,
    /// Its bytes, in whole sectors.
    pub bytes: Bytes,
}

/// An asynchronous product of a warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProductInterval {
    /// The warp that issued it.
    pub warp: u32,
    /// The cycle at which the tensor cores start it.
    pub start: f64,
    /// The cycle at which they have finished it.
    pub end: f64,
}

/// Collects the timeline of a block while it is replayed.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    warps: BTreeMap<u32, Vec<Span>>,
    copies: Vec<CopyInterval>,
    products: Vec<ProductInterval>,
}

impl Recorder {
    /// A warp did something between two times.
    pub(super) fn add_span(&mut self, warp: u32, span: Span) {
        let spans = self.warps.entry(warp).or_default();
        if span.end <= span.start {
            return;
        }
        match spans.last_mut() {
            Some(last) if last.activity == span.activity && last.end >= span.start => {
                last.end = span.end;
            }
            Some(_) | None => spans.push(span),
        }
    }

    pub(super) fn add_copy(&mut self, copy: CopyInterval) {
        self.copies.push(copy);
    }

    pub(super) fn add_product(&mut self, product: ProductInterval) {
        self.products.push(product);
    }

    pub(super) fn finish(self, clock: Hertz) -> Timeline {
        let Self { warps, mut copies, mut products } = self;
        copies.sort_by(|a, b| a.start.total_cmp(&b.start));
        products.sort_by(|a, b| a.start.total_cmp(&b.start));
        let warps: Vec<WarpTimeline> = warps
            .into_iter()
            .map(|(warp, spans)| WarpTimeline {
                warp,
                spans,
                copies: copies.iter().filter(|copy| copy.warp == warp).count(),
                products: products.iter().filter(|product| product.warp == warp).count(),
            })
            .collect();
        let ends = warps.iter().filter_map(|warp| Some(warp.spans.last()?.end));
        Timeline { cycles: ends.fold(0.0, f64::max), clock, warps, copies, products }
    }
}
