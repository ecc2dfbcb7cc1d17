//! What holds a kernel back: the unit that is busy, or the reason why none is.

use std::fmt;

use super::bound;
use super::fact::Fact;
use super::situation::Situation;
use crate::units::{Fraction, Seconds};
use crate::virtual_gpu::cost::time::Limit;

/// A unit that is busy for this share of the time is the limit. Nsight Compute's speed-of-light section draws the line
/// between a busy unit and waiting at the same 60 %.
const BUSY: f64 = 0.6;

/// Up to this multiple of the launch floor a kernel is mostly launch.
const LAUNCH_MULTIPLE: f64 = 2.0;

/// Above this share of all sectors of global memory, atomics decide.
const ATOMIC_SHARE: f64 = 0.5;

/// Below this share of the warp slots, too few warps are there to hide waiting.
const LOW_OCCUPANCY: f64 = 0.5;

/// What holds a kernel back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The launch itself.
    Launch,
    /// A unit of the device does nothing else.
    Unit(Limit),
    /// Changes of one place go one after the other.
    Atomics,
    /// No unit is busy: warps wait.
    Waiting(Cause),
    /// The unit that the bound is about; nothing was counted.
    Bound(bound::Limit),
    /// Nothing says it.
    Unknown,
}

/// Why warps wait and no others fill the gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Multiprocessors have no block.
    FewBlocks,
    /// Few warps fit on a multiprocessor.
    LowOccupancy,
    /// Each instruction needs the one before, or blocks meet at barriers.
    Dependencies,
}

/// What holds a kernel back, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// What.
    pub bottleneck: Bottleneck,
    /// The share of the time in which the unit is busy, where it is a unit.
    pub busy: Option<Fraction>,
    /// In words.
    pub evidence: Vec<String>,
}

/// What holds a kernel back, from all that is known.
#[must_use]
pub fn limiter(of: &Situation<'_>) -> Limiter {
    if let Some(fact) = atomics(of) {
        return Limiter { bottleneck: Bottleneck::Atomics, busy: None, evidence: vec![fact] };
    }
    if let Some(floor) = mostly_launch(of) {
        let evidence = vec![format!("a kernel that does nothing takes {floor}")];
        return Limiter { bottleneck: Bottleneck::Launch, busy: None, evidence };
    }
    let busiest = of.units.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0)).copied();
    match (busiest, of.time) {
        (Some((unit, work)), Some(time)) => {
            let busy = work / time;
            if busy.0 >= BUSY {
                let evidence = vec![format!("{unit} is busy for {work} of {time}, or {busy}")];
                return Limiter { bottleneck: Bottleneck::Unit(unit), busy: Some(busy), evidence };
            }
            waiting(of, Some((unit, busy)))
        }
        // With no time there is no share; the model has said whether waiting decides.
        (Some(_) | None, _) if of.waits => waiting(of, None),
        (Some((unit, work)), None) => Limiter {
            bottleneck: Bottleneck::Unit(unit),
            busy: None,
            evidence: vec![format!("{unit} is busy longest, for at least {work}")],
        },
        (None, _) => by_bound(of),
    }
}

/// Atomics that are most of what goes to L2, or that keep a multiprocessor longer than anything else does.
fn atomics(of: &Situation<'_>) -> Option<String> {
    let share = Fact::GlobalAtomicShare.value(of).filter(|share| *share >= ATOMIC_SHARE);
    if let Some(share) = share {
        return Some(Fact::GlobalAtomicShare.sentence(share));
    }
    let counted = of.counted.as_ref()?;
    // A pass takes a cycle of the unit that reaches shared memory and L2, spread over all multiprocessors at best.
    let cycles = counted.total.atomic_passes as f64 / f64::from(of.device.multiprocessors?);
    let queue: Seconds = of.device.clock?.time_of(cycles);
    let longest = of.units.iter().map(|(_, time)| time.0).fold(0.0, f64::max);
    let lanes = Fact::AtomicQueue.value(of)?;
    (queue.0 > 0.0 && queue.0 >= longest && !of.units.is_empty())
        .then(|| Fact::AtomicQueue.sentence(lanes))
}

/// The launch floor, if most of the time is that.
fn mostly_launch(of: &Situation<'_>) -> Option<Seconds> {
    let parts = &of.bound?.bound().parts;
    let floor = parts.iter().find(|part| part.limit == bound::Limit::Launch)?.time;
    let time = of.time?;
    (time.0 <= LAUNCH_MULTIPLE * floor.0).then_some(floor)
}

fn waiting(of: &Situation<'_>, busiest: Option<(Limit, Fraction)>) -> Limiter {
    let per_multiprocessor = Fact::BlocksPerMultiprocessor.value(of);
    let occupancy = Fact::Occupancy.value(of);
    let mut evidence = Vec::new();
    if let Some((unit, busy)) = busiest {
        evidence.push(format!("no unit is busy: {unit}, the busiest, for {busy} of the time"));
    }
    let cause = if let Some(blocks) = per_multiprocessor.filter(|blocks| *blocks < 1.0) {
        evidence.push(Fact::BlocksPerMultiprocessor.sentence(blocks));
        Cause::FewBlocks
    } else if let Some(share) = occupancy.filter(|share| *share < LOW_OCCUPANCY) {
        evidence.push(Fact::Occupancy.sentence(share));
        Cause::LowOccupancy
    } else {
        evidence.extend(occupancy.map(|share| Fact::Occupancy.sentence(share)));
        Cause::Dependencies
    };
    let busy = busiest.map(|(_, busy)| busy);
    Limiter { bottleneck: Bottleneck::Waiting(cause), busy, evidence }
}

/// With nothing counted, a kernel near its bound is limited by what sets the bound; of another one nothing is known.
fn by_bound(of: &Situation<'_>) -> Limiter {
    let near = of.bound.zip(of.fraction()).filter(|(_, fraction)| *fraction >= BUSY);
    match near {
        Some((bound, fraction)) => Limiter {
            bottleneck: Bottleneck::Bound(bound.bound().limit),
            busy: Some(Fraction(fraction)),
            evidence: vec![Fact::BoundFraction.sentence(fraction)],
        },
        None => {
            let evidence = vec!["nothing was counted".to_owned()];
            Limiter { bottleneck: Bottleneck::Unknown, busy: None, evidence }
        }
    }
}

impl Limiter {
    /// `DRAM (82.0 % busy)`.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.bottleneck, self.busy) {
            (Bottleneck::Unit(_), Some(busy)) => format!("{} ({busy} busy)", self.bottleneck),
            (Bottleneck::Unit(_), None)
            | (
                Bottleneck::Launch
                | Bottleneck::Atomics
                | Bottleneck::Waiting(_)
                | Bottleneck::Bound(_)
                | Bottleneck::Unknown,
                _,
            ) => self.bottleneck.to_string(),
        }
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch => f.pad("the launch itself"),
            Self::Unit(limit) => limit.fmt(f),
            Self::Atomics => f.pad("atomics that queue"),
            Self::Waiting(Cause::FewBlocks) => f.pad("waiting: too few blocks"),
            Self::Waiting(Cause::LowOccupancy) => f.pad("waiting: too few warps at once"),
            Self::Waiting(Cause::Dependencies) => f.pad("waiting for results"),
            Self::Bound(limit) => limit.fmt(f),
            Self::Unknown => f.pad("what is not known"),
        }
    }
}
