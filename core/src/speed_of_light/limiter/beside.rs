//! What holds back a kernel that a GPU timed and a virtual device counted, at another workload.

use super::super::beside::{Beside, Estimate};
use super::super::situation::Situation;
use super::waste::{Wasted, largest, wastes};
use super::{
    BEYOND, BUSY, Bottleneck, Elsewhere, Limiter, Share, Waste, atomics, few_blocks, mostly_empty,
    mostly_launch, near_the_bound, waiting,
};
use crate::units::{Bytes, Fraction, Seconds};
use crate::virtual_gpu::cost::time::LimitingResource;

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// What holds a kernel back.
pub(super) fn limiter(of: &Situation<'_>, beside: &Beside) -> Limiter {
    let share = match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => Share::About,
        Estimate::AtMost | Estimate::None => Share::AtMost,
    };
    let carried = |mut limiter: Limiter| {
        limiter.counted_at = Some(Elsewhere { workload: beside.workload.clone(), share });
        limiter.evidence.push(beside.sentence());
        limiter
    };
    if let Some(fact) = queueing(of, beside) {
        return carried(Limiter::of(Bottleneck::Atomics, vec![fact]));
    }
    if let Some(evidence) = mostly_launch(of) {
        return Limiter::of(Bottleneck::Launch, vec![evidence]);
    }
    let busiest = match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } | Estimate::AtMost => busiest(of, share),
        Estimate::None => None,
    };
    if let (Some(busiest), Share::About) = (&busiest, share)
        && busiest.decides(of)
    {
        return carried(busiest.limiter(of));
    }
    near_the_bound(of).unwrap_or_else(|| carried(elsewise(of, beside, busiest.as_ref())))
}

/// Of a kernel far from its bound no unit of which is known to be busy.
fn elsewise(of: &Situation<'_>, beside: &Beside, busiest: Option<&Busiest>) -> Limiter {
    let sentence = busiest.map(Busiest::sentence);
    if mostly_empty(of) {
        return waiting(of, sentence);
    }
    let with_sentence =
        |evidence: String| std::iter::once(evidence).chain(sentence.clone()).collect();
    if let Some(Wasted { waste, evidence, .. }) = wasted(of, beside) {
        return Limiter::of(Bottleneck::Waste(waste), with_sentence(evidence));
    }
    if let Some(evidence) = traffic(of, beside) {
        return Limiter::of(Bottleneck::Traffic, with_sentence(evidence));
    }
    match busiest {
        // No other unit can be.
        Some(busiest) if busiest.decides(of) => busiest.limiter(of),
        Some(busiest) if busiest.busy.0 < BUSY => {
            Limiter { busy: Some(busiest.busy), ..waiting(of, sentence) }
        }
        Some(_) | None if few_blocks(of).is_some() => waiting(of, None),
        Some(_) | None => {
            let nothing = "the counts do not carry over, and nothing else says what takes the time";
            Limiter::of(Bottleneck::Unknown, vec![nothing.to_owned()])
        }
    }
}

/// Atomics that decide, where a thread has as much to do.
fn queueing(of: &Situation<'_>, beside: &Beside) -> Option<String> {
    match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => atomics(of),
        // What each block adds at its end weighs most in small workloads.
        Estimate::AtMost | Estimate::None => None,
    }
}

/// What loads and stores ask for, if memory would need most of the time for it: caches spare a part that nobody counted.
fn traffic(of: &Situation<'_>, beside: &Beside) -> Option<String> {
    match beside.estimate {
        Estimate::Alike | Estimate::Line { .. } => {}
        Estimate::AtMost | Estimate::None => return None,
    }
    let total = &of.counted.as_ref()?.total;
    let sectors = total.global_load_sectors + total.global_store_sectors + total.atomic_sectors;
    let asked = Bytes(SECTOR * sectors);
    let share = asked / of.device.dram? / of.time?;
    let times = asked / of.work.moved();
    (share.0 >= BUSY).then(|| {
        format!(
            "loads and stores ask for about {:.1} times the bytes that the task moves at least, for which DRAM \
             would need {share} of the time; caches spare a part of it that was not counted",
            times.0
        )
    })
}

/// The unit of the multiprocessors that is busy longest.
struct Busiest {
    unit: LimitingResource,
    work: Seconds,
    busy: Fraction,
    share: Share,
}

impl Busiest {
    fn sentence(&self) -> String {
        let Self { unit, busy, share, .. } = self;
        format!(
            "no unit of the multiprocessors is busier than {unit}, for {share} {busy} of the time"
        )
    }

    /// Whether it is busy, and no less so than the bound says of its own.
    fn decides(&self, of: &Situation<'_>) -> bool {
        self.busy.0 >= BUSY && self.busy.0 >= of.fraction().unwrap_or(0.0)
    }

    fn limiter(&self, of: &Situation<'_>) -> Limiter {
        let Self { unit, work, busy, share } = self;
        let time = of.time.unwrap_or(Seconds(0.0));
        let mut evidence = vec![format!("{unit} is busy for {share} {work} of {time}, or {busy}")];
        evidence.extend(wastes(of).filter(|waste| waste.is_in(*unit)).map(|waste| waste.evidence));
        Limiter { busy: Some(*busy), ..Limiter::of(Bottleneck::Unit(*unit), evidence) }
    }
}

/// The unit that is busy longest; none where the times of units are not known, or are none.
fn busiest(of: &Situation<'_>, share: Share) -> Option<Busiest> {
    let (unit, work) = *of.units.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let busy = work / of.time?;
    let is_possible = busy.0 <= BEYOND;
    is_possible.then_some(Busiest { unit, work, busy, share })
}

/// The largest waste, in a unit that has much to do.
fn wasted(of: &Situation<'_>, beside: &Beside) -> Option<Wasted> {
    largest(of, &beside.weights, |waste| match (waste, &beside.estimate) {
        // Lanes idle at the ends of short rows, whatever they do in long ones.
        (Waste::Lanes, Estimate::AtMost | Estimate::None) => false,
        (Waste::Lanes | Waste::Sectors | Waste::Banks, _) => true,
    })
}
