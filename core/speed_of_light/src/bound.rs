//! The speed of light of a workload on a device: the physical bound, which is the least time of any correct kernel, and the
//! bound of the named method.
//!
//! Each bound is the maximum of several times, each with its amount of work and its rate, and lists the assumptions that it
//! depends on.

mod assumption;

use std::fmt;

use lightbench_device::Pipe;
use lightbench_project::manifest::OperationKind;
use lightbench_units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};

use super::ceilings::{Basis, Ceiling, Ceilings, Quantity};
use super::confirmation::Confirmation;
use super::minimal_work::{ByteCount, MinimalWork};
use super::permitted_pipes::{self, PermittedPipes, PipeChoice};

pub use assumption::Assumption;

/// The state of L2 when the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// L2 holds no data of the workload.
    Cold,
    /// L2 holds the data that the previous launch left.
    Warm,
}

/// The resource that sets a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time of an empty kernel.
    Launch,
    /// Bytes through device memory.
    Dram,
    /// Bytes through L2.
    L2,
    /// Operations on a pipe.
    Pipe(Pipe),
    /// Approximated functions.
    Special,
}

/// One of the times whose maximum is the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The resource.
    pub limit: Limit,
    /// The time.
    pub time: Seconds,
    /// The work and the rate.
    pub amount: Amount,
    /// The confirmation of the rate: a time below a bound is a finding only if the rate is confirmed.
    pub confirmation: Confirmation,
}

/// An amount of work and the rate of the resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A launch without work.
    Launch,
    /// Bytes.
    Moved(Bytes, Ceiling<BytesPerSecond>),
    /// Operations of the pipe.
    Computed(Flops, Ceiling<FlopsPerSecond>),
}

/// A time that no correct kernel beats.
#[derive(Clone, Debug, PartialEq)]
pub struct PhysicalBound(Bound);

/// The bound of the pipe and method that the project's precision names. A faster kernel uses another method, which is not
/// an error.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodBound(Bound);

/// A bound with everything it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The maximum of the parts.
    pub time: Seconds,
    /// The resource that sets the bound.
    pub limit: Limit,
    /// All parts, longest first.
    pub parts: Vec<Part>,
    /// The basis of the ceilings.
    pub basis: Basis,
    /// The state of L2 at the start.
    pub cache: CacheState,
    /// Whether the working set fits in L2, in which case DRAM does not limit a repeated run.
    pub residency: Residency,
    /// The assumptions of the bound.
    pub assumptions: Vec<Assumption>,
}

/// Whether L2 can hold the working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residency {
    /// The working set is larger than L2.
    Beyond,
    /// The working set fits in L2.
    Fits,
    /// The size of L2 is unknown.
    Unknown,
}

/// Why there is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBound {
    /// No byte, no operation with a known rate, no launch floor.
    #[error("nothing that the workload must do has a known rate on this device")]
    NothingKnown,
    /// A rate or an amount is no number.
    #[error("a rate or an amount is not a positive, finite number")]
    NotANumber,
}

impl PhysicalBound {
    /// The least time of any correct kernel.
    ///
    /// # Errors
    /// No part of the work has a known rate, or an amount or a rate is not a positive, finite number.
    pub fn new(
        work: &MinimalWork,
        ceilings: &Ceilings,
        cache: CacheState,
    ) -> Result<Self, NoBound> {
        let mut draft = Draft::memory(work, ceilings, cache);
        for (kind, count) in counted(work) {
            match permitted_pipes::permitted(kind, work.accuracy, work.operands) {
                PermittedPipes::Ways(ways) => draft.fastest(kind, count, &ways),
                PermittedPipes::LeftOut(why) => {
                    draft.assumptions.push(Assumption::LeftOut { kind, why });
                }
            }
        }
        draft.finish().map(Self)
    }

    /// The bound.
    #[must_use]
    pub const fn bound(&self) -> &Bound {
        &self.0
    }
}

impl MethodBound {
    /// The bound of the pipe that the task's precision names, without products made of narrower ones.
    ///
    /// # Errors
    /// As for [`PhysicalBound::new`].
    pub fn new(
        work: &MinimalWork,
        ceilings: &Ceilings,
        cache: CacheState,
    ) -> Result<Self, NoBound> {
        let mut draft = Draft::memory(work, ceilings, cache);
        for (kind, count) in counted(work) {
            draft.named(kind, count, work);
        }
        draft.finish().map(Self)
    }

    /// The bound.
    #[must_use]
    pub const fn bound(&self) -> &Bound {
        &self.0
    }
}

/// The kinds with a positive count; a count that is NaN is kept, so that it is reported.
fn counted(work: &MinimalWork) -> impl Iterator<Item = (OperationKind, Flops)> {
    work.operations.iter().copied().filter(|(_, count)| count.0 != 0.0)
}

/// A bound in the making.
struct Draft<'a> {
    ceilings: &'a Ceilings,
    cache: CacheState,
    residency: Residency,
    parts: Vec<Part>,
    assumptions: Vec<Assumption>,
}

impl<'a> Draft<'a> {
    /// The launch, and the bytes.
    fn memory(work: &MinimalWork, ceilings: &'a Ceilings, cache: CacheState) -> Self {
        let residency = match ceilings.l2_size {
            Some(l2) if work.working_set <= l2 => Residency::Fits,
            Some(_) => Residency::Beyond,
            None => Residency::Unknown,
        };
        let mut draft =
            Self { ceilings, cache, residency, parts: Vec::new(), assumptions: Vec::new() };
        draft.launch();
        draft.assumptions.push(match work.bytes {
            ByteCount::Tensors => Assumption::EveryInputOnce,
            ByteCount::Formula => Assumption::BytesByFormula,
        });
        if !work.operations.is_empty() {
            draft.assumptions.push(Assumption::OperationsAsStated);
        }
        let bytes = match cache {
            CacheState::Cold => draft.cold_bytes(work),
            CacheState::Warm => draft.warm_bytes(work),
        };
        match &ceilings.dram {
            Some(rate) => draft.moved(Limit::Dram, bytes, rate),
            None if ceilings.evidence.is_suspect(Quantity::Dram) => {
                draft.assumptions.push(Assumption::SuspectPeak(Limit::Dram));
            }
            None => draft.assumptions.push(Assumption::UnknownRate("device memory")),
        }
        if cache == CacheState::Warm
            && let Some(rate) = &ceilings.l2
        {
            draft.moved(Limit::L2, work.moved(), rate);
        }
        draft
    }

    fn launch(&mut self) {
        match &self.ceilings.launch_floor {
            Some(floor) => {
                let (limit, time) = (Limit::Launch, floor.value);
                self.push(limit, time, Amount::Launch);
            }
            None => self.assumptions.push(Assumption::NoLaunchFloor),
        }
    }

    /// All input bytes are read; L2 may retain a part of the written bytes after the kernel ends.
    fn cold_bytes(&mut self, work: &MinimalWork) -> Bytes {
        self.assumptions.push(Assumption::EmptyCache);
        let (retained, why) = match (&self.ceilings.retained_writes, self.ceilings.l2_size) {
            (Some(most), _) => (most.value, Assumption::Retained(most.value)),
            (None, Some(l2)) => (l2, Assumption::RetainedAtMost(l2)),
            (None, None) => (work.written, Assumption::RetainedUnknown),
        };
        if work.written > Bytes(0) {
            self.assumptions.push(why);
        }
        work.read + work.written.checked_sub(retained).unwrap_or_default()
    }

    /// A cache that was just filled spares as many bytes as it holds.
    fn warm_bytes(&mut self, work: &MinimalWork) -> Bytes {
        match self.ceilings.l2_size {
            Some(l2) => {
                self.assumptions.push(Assumption::WarmCache(l2));
                work.moved().checked_sub(l2).unwrap_or_default()
            }
            None => {
                self.assumptions.push(Assumption::WarmCacheUnknown);
                Bytes(0)
            }
        }
    }

    fn moved(&mut self, limit: Limit, bytes: Bytes, rate: &Ceiling<BytesPerSecond>) {
        self.note_origin(limit, rate);
        let (time, amount) = (bytes / rate.value, Amount::Moved(bytes, rate.clone()));
        if bytes > Bytes(0) {
            self.push(limit, time, amount);
        }
    }

    fn push(&mut self, limit: Limit, time: Seconds, amount: Amount) {
        let confirmation = self.ceilings.evidence.confirmation(limit.quantity());
        self.parts.push(Part { limit, time, amount, confirmation });
    }

    fn computed(&mut self, limit: Limit, count: Flops, rate: &Ceiling<FlopsPerSecond>) {
        self.note_origin(limit, rate);
        let same = self.parts.iter_mut().find(|part| part.limit == limit);
        match same.map(|part| (&mut part.time, &mut part.amount)) {
            // The operations of one pipe are serial.
            Some((time, Amount::Computed(total, _))) => {
                *total = *total + count;
                *time = *total / rate.value;
            }
            Some((_, Amount::Launch | Amount::Moved(..))) | None => {
                let (time, amount) = (count / rate.value, Amount::Computed(count, rate.clone()));
                self.push(limit, time, amount);
            }
        }
    }

    /// Notes a device-sheet value among measured ones as an assumption.
    fn note_origin<T>(&mut self, limit: Limit, ceiling: &Ceiling<T>) {
        let falls_back = self.ceilings.basis == Basis::Measured && !ceiling.origin.is_measured();
        let note = Assumption::NotMeasured(limit);
        if falls_back && !self.assumptions.contains(&note) {
            self.assumptions.push(note);
        }
    }

    /// The time of a kind of operation on the fastest permitted pipe with a known rate.
    fn fastest(&mut self, kind: OperationKind, count: Flops, ways: &[PipeChoice]) {
        // A pipe with a suspect peak may be the fastest one: without its rate, no bound follows.
        let suspect = |way: &&PipeChoice| self.ceilings.is_withheld(way.pipe);
        if let Some(way) = ways.iter().find(suspect) {
            self.assumptions.push(Assumption::SuspectPeak(Limit::Pipe(way.pipe)));
            return;
        }
        let known = ways.iter().filter_map(|way| Some((way, self.ceilings.pipe(way.pipe)?)));
        let effective = |(way, rate): &(&PipeChoice, &Ceiling<FlopsPerSecond>)| {
            rate.value.0 / f64::from(way.products)
        };
        let best = known.max_by(|a, b| effective(a).total_cmp(&effective(b)));
        match best.map(|(way, rate)| (*way, rate.clone())) {
            Some((way, rate)) => {
                self.assumptions.push(Assumption::OnePipe { kind, way });
                let count = count * f64::from(way.products);
                // Each kind by itself: kinds may run on different pipes at once, so only the longest bounds.
                let limit = Limit::Pipe(way.pipe);
                self.note_origin(limit, &rate);
                let (time, amount) = (count / rate.value, Amount::Computed(count, rate));
                self.push(limit, time, amount);
            }
            None => self.assumptions.push(Assumption::NoKnownPipe(kind)),
        }
    }

    fn named(&mut self, kind: OperationKind, count: Flops, work: &MinimalWork) {
        if kind == OperationKind::Special {
            match self.ceilings.special.clone() {
                Some(rate) => self.computed(Limit::Special, count, &rate),
                None => self.assumptions.push(Assumption::NoKnownPipe(kind)),
            }
            return;
        }
        match permitted_pipes::named(kind, work, self.ceilings) {
            Some((pipe, rate)) => {
                self.assumptions.push(Assumption::Named { kind, pipe });
                self.computed(Limit::Pipe(pipe), count, rate);
            }
            None => self.assumptions.push(Assumption::NoKnownPipe(kind)),
        }
    }

    fn finish(self) -> Result<Bound, NoBound> {
        let Self { ceilings, cache, residency, mut parts, assumptions } = self;
        let is_sound = |part: &Part| part.time.0 > 0.0 && part.time.0.is_finite();
        if !parts.iter().all(is_sound) {
            return Err(NoBound::NotANumber);
        }
        parts.sort_by(|a, b| b.time.0.total_cmp(&a.time.0));
        let longest = parts.first().ok_or(NoBound::NothingKnown)?;
        let (time, limit) = (longest.time, longest.limit);
        Ok(Bound { time, limit, parts, basis: ceilings.basis, cache, residency, assumptions })
    }
}

impl Limit {
    /// The ceiling that sets it.
    #[must_use]
    pub const fn quantity(self) -> Quantity {
        match self {
            Self::Launch => Quantity::LaunchFloor,
            Self::Dram => Quantity::Dram,
            Self::L2 => Quantity::L2,
            Self::Pipe(pipe) => Quantity::Pipe(pipe),
            Self::Special => Quantity::Special,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch => f.pad("launch overhead"),
            Self::Dram => f.pad("DRAM"),
            Self::L2 => f.pad("L2"),
            Self::Pipe(pipe) => pipe.fmt(f),
            Self::Special => f.pad("special functions"),
        }
    }
}
