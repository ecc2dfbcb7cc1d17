//! The limiter of a kernel that a GPU timed, from counters of a virtual device on a smaller workload.

use lightbench_units::{Bytes, Fraction, Seconds};
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::super::extrapolated_counters::{Estimate, ExtrapolatedCounters};
use super::super::performance_data::PerformanceData;
use super::waste::{Wasted, largest, wastes};
use super::{
    BUSY, Bottleneck, BusyPrecision, CountedWorkload, IMPLAUSIBLE_BUSY, Limiter, Waste, atomics,
    few_blocks, mostly_empty, mostly_launch, near_the_bound, waiting,
};

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// The limiter of a kernel.
pub(super) fn limiter(data: &PerformanceData<'_>, beside: &ExtrapolatedCounters) -> Limiter {
    let share = match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => BusyPrecision::About,
        Estimate::AtMost | Estimate::None => BusyPrecision::AtMost,
    };
    let carried = |mut limiter: Limiter| {
        limiter.counted_at =
            Some(CountedWorkload { workload: beside.workload.clone(), precision: share });
        limiter.evidence.push(beside.sentence());
        limiter
    };
    if let Some(fact) = queueing(data, beside) {
        return carried(Limiter::new(Bottleneck::Atomics, vec![fact]));
    }
    if let Some(evidence) = mostly_launch(data) {
        return Limiter::new(Bottleneck::Launch, vec![evidence]);
    }
    let busiest = match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } | Estimate::AtMost => busiest(data, share),
        Estimate::None => None,
    };
    if let (Some(busiest), BusyPrecision::About) = (&busiest, share)
        && busiest.decides(data)
    {
        return carried(busiest.limiter(data));
    }
    near_the_bound(data)
        .unwrap_or_else(|| carried(limiter_without_busy_unit(data, beside, busiest.as_ref())))
}

/// The limiter of a kernel that is far from its bound and has no unit known to be busy.
fn limiter_without_busy_unit(
    data: &PerformanceData<'_>,
    beside: &ExtrapolatedCounters,
    busiest: Option<&Busiest>,
) -> Limiter {
    let sentence = busiest.map(Busiest::sentence);
    if mostly_empty(data) {
        return waiting(data, sentence);
    }
    let with_sentence =
        |evidence: String| std::iter::once(evidence).chain(sentence.clone()).collect();
    if let Some(Wasted { waste, evidence, .. }) = wasted(data, beside) {
        return Limiter::new(Bottleneck::Waste(waste), with_sentence(evidence));
    }
    if let Some(evidence) = traffic(data, beside) {
        return Limiter::new(Bottleneck::Traffic, with_sentence(evidence));
    }
    match busiest {
        // No other unit can be.
        Some(busiest) if busiest.decides(data) => busiest.limiter(data),
        Some(busiest) if busiest.busy.0 < BUSY => {
            Limiter { busy: Some(busiest.busy), ..waiting(data, sentence) }
        }
        Some(_) | None if few_blocks(data).is_some() => waiting(data, None),
        Some(_) | None => {
            let nothing =
                "the counters cannot be extrapolated to this size, and there is no other evidence";
            Limiter::new(Bottleneck::Unknown, vec![nothing.to_owned()])
        }
    }
}

/// Atomics that decide, where a thread has as much to do.
fn queueing(data: &PerformanceData<'_>, beside: &ExtrapolatedCounters) -> Option<String> {
    match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => atomics(data),
        // The atomics at the end of each block have the largest share in small workloads.
        Estimate::AtMost | Estimate::None => None,
    }
}

/// Evidence that loads and stores request more bytes than DRAM could move in most of the time; caches serve a part of them,
/// which is not counted.
fn traffic(data: &PerformanceData<'_>, beside: &ExtrapolatedCounters) -> Option<String> {
    match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => {}
        Estimate::AtMost | Estimate::None => return None,
    }
    let total = &data.counted.as_ref()?.total;
    let sectors = total.global_load_sectors + total.global_store_sectors + total.atomic_sectors;
    let asked = Bytes(SECTOR * sectors);
    let share = asked / data.device.dram? / data.time?;
    let times = asked / data.work.moved();
    (share.0 >= BUSY).then(|| {
        format!(
            "loads and stores ask for about {:.1} times the bytes that the task moves at least, for which DRAM \
             would need {share} of the time; caches spare a part of it that was not counted",
            times.0
        )
    })
}

/// The unit of the multiprocessors with the longest busy time.
struct Busiest {
    unit: LimitingResource,
    work: Seconds,
    busy: Fraction,
    share: BusyPrecision,
}

impl Busiest {
    fn sentence(&self) -> String {
        let Self { unit, busy, share, .. } = self;
        format!(
            "no unit of the multiprocessors is busier than {unit}, for {share} {busy} of the time"
        )
    }

    /// Whether the unit is busy, and for at least the fraction of time that the bound accounts for.
    fn decides(&self, data: &PerformanceData<'_>) -> bool {
        self.busy.0 >= BUSY && self.busy.0 >= data.bound_fraction().unwrap_or(0.0)
    }

    fn limiter(&self, data: &PerformanceData<'_>) -> Limiter {
        let Self { unit, work, busy, share } = self;
        let time = data.time.unwrap_or(Seconds(0.0));
        let is = unit.verb();
        let busy_for = format!("{unit} {is} busy for {share} {work} of {time}, or {busy}");
        let mut evidence = vec![busy_for];
        evidence
            .extend(wastes(data).filter(|waste| waste.is_in(*unit)).map(|waste| waste.evidence));
        Limiter { busy: Some(*busy), ..Limiter::new(Bottleneck::Unit(*unit), evidence) }
    }
}

/// The unit with the longest busy time; `None` if busy times are unknown or implausible.
fn busiest(data: &PerformanceData<'_>, share: BusyPrecision) -> Option<Busiest> {
    let (unit, work) = *data.units.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let busy = work / data.time?;
    let is_possible = busy.0 <= IMPLAUSIBLE_BUSY;
    is_possible.then_some(Busiest { unit, work, busy, share })
}

/// The largest waste, in a unit that has much to do.
fn wasted(data: &PerformanceData<'_>, beside: &ExtrapolatedCounters) -> Option<Wasted> {
    largest(data, &beside.weights, |waste| match (waste, &beside.estimate) {
        // Threads are inactive at the ends of short rows; long rows may have none.
        (Waste::Lanes, Estimate::AtMost | Estimate::None) => false,
        (Waste::Lanes | Waste::Sectors | Waste::Banks, _) => true,
    })
}
