//! What holds a kernel back: the unit that is busy, or the reason why none is.

mod extrapolated;
mod waste;

use std::fmt;

use lightbench_units::{Fraction, Seconds};
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::bound;
use super::extrapolated_counters::Estimate;
use super::fact::Fact;
use super::performance_data::{CounterLocation, PerformanceData};

/// A unit that is busy for this share of the time is the limit. Nsight Compute's speed-of-light section draws the line
/// between a busy unit and waiting at the same 60 %.
const BUSY: f64 = 0.6;

/// Up to this multiple of the launch floor a kernel is mostly launch.
const LAUNCH_MULTIPLE: f64 = 2.0;

/// A unit that counts would keep busy for longer than this part of the time: the counts do not carry over.
const IMPLAUSIBLE_BUSY: f64 = 1.25;

/// With no more blocks than this for each multiprocessor, those that have none decide.
const MOSTLY_EMPTY: f64 = 0.75;

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
    Unit(LimitingResource),
    /// Changes of one place go one after the other.
    Atomics,
    /// What loads and stores ask for, wherever it is served from.
    Traffic,
    /// No unit is known to be busy, and most of what one of them does is of no use.
    Waste(Waste),
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

/// What a unit does of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waste {
    /// Global memory moves sectors of which little is used.
    Sectors,
    /// Shared memory takes several passes where one would be enough.
    Banks,
    /// Instructions are executed by a part of the lanes.
    Lanes,
}

/// What holds a kernel back, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// What.
    pub bottleneck: Bottleneck,
    /// The share of the time in which the unit is busy, where it is a unit.
    pub busy: Option<Fraction>,
    /// Where it was counted, where that was on a virtual device beside a GPU.
    pub counted_at: Option<CountedWorkload>,
    /// In words.
    pub evidence: Vec<String>,
}

/// Another workload, counted on a virtual device beside a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedWorkload {
    /// Its name.
    pub workload: String,
    /// How well shares of the time are known.
    pub precision: BusyPrecision,
}

/// How well a share of the time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyPrecision {
    /// It is an estimate.
    About,
    /// It is no more than that.
    AtMost,
}

impl fmt::Display for BusyPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::About => "about",
            Self::AtMost => "at most",
        })
    }
}

/// What holds a kernel back, from all that is known.
#[must_use]
pub fn limiter(data: &PerformanceData<'_>) -> Limiter {
    match data.at {
        CounterLocation::SameWorkload => limiter_from_own_counters(data),
        CounterLocation::Extrapolated(beside) => extrapolated::limiter(data, beside),
    }
}

/// Units with the share of the time in which they are known to be busy, at least about; what is only an upper limit is left
/// out.
pub(super) fn known_busy<'a>(
    data: &'a PerformanceData<'_>,
) -> impl Iterator<Item = (LimitingResource, Fraction)> + 'a {
    let is_known = match data.at {
        CounterLocation::SameWorkload => true,
        CounterLocation::Extrapolated(beside) => match beside.estimate {
            Estimate::Alike | Estimate::Line { .. } => true,
            Estimate::AtMost | Estimate::None => false,
        },
    };
    let time = data.busy_time().filter(|_| is_known);
    let busy = data.units.iter().filter_map(move |(unit, work)| Some((*unit, *work / time?)));
    busy.filter(|(_, busy)| busy.0 > 0.0 && busy.0 <= IMPLAUSIBLE_BUSY)
}

/// From what is known of the timed workload itself.
fn limiter_from_own_counters(data: &PerformanceData<'_>) -> Limiter {
    let busiest = data.units.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0)).copied();
    // Where the queue at one address takes most of the time, it is the limit by itself.
    let is_busy = |work: Seconds| data.busy_time().is_none_or(|time| (work / time).0 >= BUSY);
    let queues =
        busiest.is_some_and(|(unit, work)| unit == LimitingResource::Atomics && is_busy(work));
    if !queues && let Some(fact) = atomics(data) {
        return Limiter::new(Bottleneck::Atomics, vec![fact]);
    }
    if let Some(evidence) = mostly_launch(data) {
        return Limiter::new(Bottleneck::Launch, vec![evidence]);
    }
    match (busiest, data.time) {
        (Some((unit, work)), Some(time)) => {
            let busy = work / time;
            if is_busy(work) {
                let evidence = vec![format!("{unit} is busy for {work} of {time}, or {busy}")];
                return Limiter {
                    busy: Some(busy),
                    ..Limiter::new(Bottleneck::Unit(unit), evidence)
                };
            }
            let idle = format!("no unit is busy: {unit}, the busiest, for {busy} of the time");
            // What is waited for would be less without what is of no use.
            if !mostly_empty(data)
                && let Some(wasted) = waste::largest(data, &data.units, |_| true)
            {
                return Limiter::new(Bottleneck::Waste(wasted.waste), vec![wasted.evidence, idle]);
            }
            Limiter { busy: Some(busy), ..waiting(data, Some(idle)) }
        }
        // With no time there is no share; the model has said whether waiting decides.
        (Some(_) | None, _) if data.waits => waiting(data, None),
        (Some((unit, work)), None) => {
            let evidence = vec![format!("{unit} is busy longest, for at least {work}")];
            Limiter::new(Bottleneck::Unit(unit), evidence)
        }
        (None, _) => near_the_bound(data).unwrap_or_else(|| {
            let nothing = || "nothing was counted".to_owned();
            Limiter::new(
                Bottleneck::Unknown,
                vec![data.no_counters_reason.map_or_else(nothing, str::to_owned)],
            )
        }),
    }
}

/// Atomics that are most of what goes to L2, or that keep a multiprocessor longer than anything else does.
fn atomics(data: &PerformanceData<'_>) -> Option<String> {
    let share = Fact::GlobalAtomicShare.value(data).filter(|share| *share >= ATOMIC_SHARE);
    if let Some(share) = share {
        return Some(Fact::GlobalAtomicShare.sentence(share));
    }
    let counted = data.counted.as_ref()?;
    // A pass takes a cycle of the unit that reaches shared memory and L2, spread over all multiprocessors at best.
    let cycles = counted.total.atomic_passes as f64 / f64::from(data.device.multiprocessors?);
    let queue: Seconds = data.device.clock?.time_of(cycles);
    let longest = data.units.iter().map(|(_, time)| time.0).fold(0.0, f64::max);
    let lanes = Fact::AtomicQueue.value(data)?;
    (queue.0 > 0.0 && queue.0 >= longest && !data.units.is_empty())
        .then(|| Fact::AtomicQueue.sentence(lanes))
}

/// What an empty kernel takes, if most of the time of each launch is that.
fn mostly_launch(data: &PerformanceData<'_>) -> Option<String> {
    let bound = data.bound.and_then(|bound| {
        let parts = &bound.bound().parts;
        Some(parts.iter().find(|part| part.limit == bound::Limit::Launch)?.time)
    });
    let time = data.time?;
    if let Some(floor) = bound.filter(|floor| time.0 <= LAUNCH_MULTIPLE * floor.0) {
        return Some(format!("a kernel that does nothing takes {floor}"));
    }
    let (floor, launches) = (data.floor?, data.launches_run.unwrap_or(1).max(1));
    let each = time * (1.0 / launches as f64);
    (each.0 <= LAUNCH_MULTIPLE * floor.0).then(|| match launches {
        1 => format!("a kernel that does nothing takes {floor}"),
        _ => format!("each of {launches} launches takes {each}, and one that does nothing {floor}"),
    })
}

fn waiting(data: &PerformanceData<'_>, idle: Option<String>) -> Limiter {
    let occupancy = Fact::Occupancy.value(data);
    let mut evidence: Vec<String> = idle.into_iter().collect();
    let cause = if let Some(blocks) = few_blocks(data) {
        evidence.push(Fact::BlocksPerMultiprocessor.sentence(blocks));
        Cause::FewBlocks
    } else if let Some(share) = occupancy.filter(|share| *share < LOW_OCCUPANCY) {
        evidence.push(Fact::Occupancy.sentence(share));
        Cause::LowOccupancy
    } else {
        evidence.extend(occupancy.map(|share| Fact::Occupancy.sentence(share)));
        Cause::Dependencies
    };
    Limiter::new(Bottleneck::Waiting(cause), evidence)
}

/// Blocks for each multiprocessor, where some have none.
fn few_blocks(data: &PerformanceData<'_>) -> Option<f64> {
    Fact::BlocksPerMultiprocessor.value(data).filter(|blocks| *blocks < 1.0)
}

/// Whether multiprocessors without a block decide, whatever the others do.
fn mostly_empty(data: &PerformanceData<'_>) -> bool {
    few_blocks(data).is_some_and(|blocks| blocks <= MOSTLY_EMPTY)
}

/// A kernel near its bound is limited by what sets the bound, whatever was counted.
fn near_the_bound(data: &PerformanceData<'_>) -> Option<Limiter> {
    let near = data.bound.zip(data.bound_fraction()).filter(|(_, fraction)| *fraction >= BUSY);
    let Some((bound, fraction)) = near else { return near_the_method(data) };
    let evidence = vec![Fact::BoundFraction.sentence(fraction)];
    let limiter = Limiter::new(Bottleneck::Bound(bound.bound().limit), evidence);
    Some(Limiter { busy: Some(Fraction(fraction)), ..limiter })
}

/// Without tensor cores a pipe does what the task asks for, one operation for each.
fn near_the_method(data: &PerformanceData<'_>) -> Option<Limiter> {
    let uses_lanes = data.code.is_some_and(|code| code.tensor == 0 && code.warp_group == 0);
    let bound = data.method.filter(|_| uses_lanes)?.bound();
    let busy = bound.time / data.time?;
    let bound::Limit::Pipe(pipe) = bound.limit else { return None };
    let evidence = vec![format!("what the task computes keeps {pipe} busy for {busy} of the time")];
    let limiter = Limiter::new(Bottleneck::Bound(bound.limit), evidence);
    (busy.0 >= BUSY).then_some(Limiter { busy: Some(busy), ..limiter })
}

impl Limiter {
    fn new(bottleneck: Bottleneck, evidence: Vec<String>) -> Self {
        Self { bottleneck, busy: None, counted_at: None, evidence }
    }

    /// `DRAM (82.0 % busy)`, `L1 (about 71.0 % busy, as counted at odd)`.
    #[must_use]
    pub fn words(&self) -> String {
        let (about, counted) = match &self.counted_at {
            Some(CountedWorkload { workload, precision: share }) => {
                (format!("{share} "), Some(format!("as counted at {workload}")))
            }
            None => (String::new(), None),
        };
        let busy = match self.bottleneck {
            Bottleneck::Unit(_) => self.busy.map(|busy| format!("{about}{busy} busy")),
            Bottleneck::Launch
            | Bottleneck::Atomics
            | Bottleneck::Traffic
            | Bottleneck::Waste(_)
            | Bottleneck::Waiting(_)
            | Bottleneck::Bound(_)
            | Bottleneck::Unknown => None,
        };
        let notes: Vec<String> = busy.into_iter().chain(counted).collect();
        if notes.is_empty() {
            return self.bottleneck.to_string();
        }
        format!("{} ({})", self.bottleneck, notes.join(", "))
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch => f.pad("the launch itself"),
            Self::Unit(limit) => limit.fmt(f),
            Self::Atomics => f.pad("atomics that queue"),
            Self::Traffic => f.pad("memory traffic"),
            Self::Waste(Waste::Sectors) => f.pad("scattered accesses to global memory"),
            Self::Waste(Waste::Banks) => f.pad("bank conflicts in shared memory"),
            Self::Waste(Waste::Lanes) => f.pad("idle lanes"),
            Self::Waiting(Cause::FewBlocks) => f.pad("waiting: too few blocks"),
            Self::Waiting(Cause::LowOccupancy) => f.pad("waiting: too few warps at once"),
            Self::Waiting(Cause::Dependencies) => f.pad("waiting for results"),
            Self::Bound(limit) => limit.fmt(f),
            Self::Unknown => f.pad("what is not known"),
        }
    }
}
