//! What the warps of a block do at each time, by their roles: the timeline of a modelled launch.

use std::collections::BTreeMap;

use lightbench_primitives::cancellation::Cancellation;

use crate::compile::Compiler;
use crate::figure::{Figure, Lane, LaneSpan, Undrawable, lanes};
use crate::units::{Bytes, Fraction, Seconds};
use crate::verify::device_session::timelines::{LaunchTimeline, timelines};
use crate::virtual_gpu::cost::time::{Activity, Span, StallReason, Timeline, WarpTimeline};
use crate::virtual_program::{ProgramRequest, VirtualProgram, VirtualProgramError};

/// Compiles the kernel and models its first launches.
///
/// # Errors
/// The kernel does not compile or cannot run.
pub fn model(
    compiler: &mut Compiler,
    request: &ProgramRequest<'_>,
    cancellation: &Cancellation,
) -> Result<Vec<LaunchTimeline>, VirtualProgramError> {
    let program = VirtualProgram::compile(compiler, request, cancellation)?;
    Ok(timelines(&program.run())?)
}

/// What a warp does in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarpRole {
    /// It issues asynchronous copies into shared memory.
    Copies,
    /// It issues asynchronous products.
    Multiplies,
    /// It issues both.
    CopiesAndMultiplies,
    /// It issues neither.
    Computes,
}

impl WarpRole {
    /// The role of a warp.
    #[must_use]
    pub const fn from_warp(warp: &WarpTimeline) -> Self {
        match (warp.copies > 0, warp.products > 0) {
            (true, false) => Self::Copies,
            (false, true) => Self::Multiplies,
            (true, true) => Self::CopiesAndMultiplies,
            (false, false) => Self::Computes,
        }
    }

    /// The verb.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Copies => "copies",
            Self::Multiplies => "multiplies",
            Self::CopiesAndMultiplies => "copies and multiplies",
            Self::Computes => "computes",
        }
    }
}

/// The warps of one role, and the fractions of their time.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleSummary {
    /// The role.
    pub role: WarpRole,
    /// The indices of the warps, ascending.
    pub warps: Vec<u32>,
    /// The fraction of the block's time that these warps spend on each activity, on average.
    pub shares: BTreeMap<Activity, Fraction>,
}

/// The warps by role.
#[must_use]
pub fn roles(timeline: &Timeline) -> Vec<RoleSummary> {
    let mut by_role: BTreeMap<WarpRole, Vec<&WarpTimeline>> = BTreeMap::new();
    for warp in &timeline.warps {
        by_role.entry(WarpRole::from_warp(warp)).or_default().push(warp);
    }
    let summary = |(role, warps): (WarpRole, Vec<&WarpTimeline>)| {
        let mut spent: BTreeMap<Activity, f64> = BTreeMap::new();
        for span in warps.iter().flat_map(|warp| &warp.spans) {
            *spent.entry(span.activity).or_default() += span.end - span.start;
        }
        let whole = timeline.cycles * warps.len() as f64;
        let share = |(activity, cycles)| (activity, Fraction(cycles / whole));
        RoleSummary {
            role,
            warps: warps.iter().map(|warp| warp.warp).collect(),
            shares: spent.into_iter().map(share).collect(),
        }
    };
    by_role.into_iter().map(summary).collect()
}

/// The mean number of bytes of asynchronous copies into shared memory that are under way.
#[must_use]
pub fn bytes_in_flight(timeline: &Timeline) -> Bytes {
    let held = timeline.copies.iter().map(|copy| copy.bytes.0 as f64 * (copy.end - copy.start));
    Bytes((held.sum::<f64>() / timeline.cycles.max(1.0)) as u64)
}

/// The fraction of the time in which asynchronous products of the block run.
#[must_use]
pub fn products_busy(timeline: &Timeline) -> Fraction {
    let busy = products(timeline).iter().fold(0.0, |busy, (start, end)| busy + (end - start));
    Fraction(busy / timeline.cycles.max(1.0))
}

fn copies(timeline: &Timeline) -> Vec<(f64, f64)> {
    joined(timeline.copies.iter().map(|copy| (copy.start, copy.end)))
}

fn products(timeline: &Timeline) -> Vec<(f64, f64)> {
    joined(timeline.products.iter().map(|product| (product.start, product.end)))
}

/// Intervals in the order of their starts; those that overlap become one.
fn joined(intervals: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (start, end) in intervals {
        match all.last_mut() {
            Some((_, last)) if *last >= start => *last = last.max(end),
            Some(_) | None => all.push((start, end)),
        }
    }
    all
}

/// What takes most of each of `count` equal parts of the time; none where a warp has not begun or has ended.
#[must_use]
pub fn sampled(spans: &[Span], cycles: f64, count: usize) -> Vec<Option<Activity>> {
    let width = cycles / count as f64;
    let mut next = 0;
    let part = |index: usize| {
        let (start, end) = (index as f64 * width, (index + 1) as f64 * width);
        while spans.get(next).is_some_and(|span| span.end <= start) {
            next += 1;
        }
        let mut spent: BTreeMap<Activity, f64> = BTreeMap::new();
        for span in spans[next..].iter().take_while(|span| span.start < end) {
            let overlap = span.end.min(end) - span.start.max(start);
            *spent.entry(span.activity).or_default() += overlap;
        }
        let most = spent.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(activity, _)| activity)
    };
    (0..count).map(part).collect()
}

/// The kinds of spans in a figure.
const KINDS: [&str; 8] = [
    "runs",
    "waits for global memory",
    "waits for shared memory",
    "waits for results",
    "waits at barriers",
    "waits for atomics",
    "copies under way",
    "products under way",
];

const COPIES: usize = 6;
const PRODUCTS: usize = 7;

const fn kind(activity: Activity) -> usize {
    match activity {
        Activity::Runs => 0,
        Activity::Waits(StallReason::GlobalMemory) => 1,
        Activity::Waits(StallReason::SharedMemory) => 2,
        Activity::Waits(StallReason::Arithmetic) => 3,
        Activity::Waits(StallReason::Barriers) => 4,
        Activity::Waits(StallReason::Atomics) => 5,
    }
}

/// The name of an activity.
#[must_use]
pub const fn name(activity: Activity) -> &'static str {
    KINDS[kind(activity)]
}

/// A lane with more spans shows this many equal parts of the time instead, each with what takes most of it.
const MOST_SPANS: usize = 1000;

/// The figure of a timeline: a lane for each warp, one for copies and one for products.
///
/// # Errors
/// A time cannot be drawn.
pub fn figure(title: &str, timeline: &Timeline) -> Result<Figure, Undrawable> {
    let time = |cycles: f64| Seconds(cycles / timeline.clock.0);
    let span = |(start, end), kind| LaneSpan { start: time(start), end: time(end), kind };
    let under_way = |name: &str, kind: usize, intervals: Vec<(f64, f64)>| Lane {
        name: name.to_owned(),
        note: String::new(),
        spans: intervals.into_iter().map(|interval| span(interval, kind)).collect(),
    };
    let of_warp = |warp: &WarpTimeline| Lane {
        name: format!("warp {}", warp.warp),
        note: WarpRole::from_warp(warp).word().to_owned(),
        spans: legible(&warp.spans, timeline.cycles)
            .iter()
            .map(|shown| span((shown.start, shown.end), kind(shown.activity)))
            .collect(),
    };
    let shared = [
        under_way("copies", COPIES, copies(timeline)),
        under_way("products", PRODUCTS, products(timeline)),
    ];
    let shared = shared.into_iter().filter(|lane| !lane.spans.is_empty());
    let all: Vec<Lane> = shared.chain(timeline.warps.iter().map(of_warp)).collect();
    lanes(title, &all, &KINDS)
}

/// The spans, or those of [`sampled`] parts if there are too many to draw.
fn legible(spans: &[Span], cycles: f64) -> Vec<Span> {
    if spans.len() <= MOST_SPANS {
        return spans.to_vec();
    }
    let width = cycles / MOST_SPANS as f64;
    let mut all: Vec<Span> = Vec::new();
    for (index, activity) in sampled(spans, cycles, MOST_SPANS).into_iter().enumerate() {
        let Some(activity) = activity else { continue };
        let (start, end) = (index as f64 * width, (index + 1) as f64 * width);
        match all.last_mut() {
            Some(last) if last.activity == activity && last.end >= start => last.end = end,
            Some(_) | None => all.push(Span { start, end, activity }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use lightbench_units::Hertz;

    use super::*;
    use crate::figure::{self, Item};
    use crate::virtual_gpu::cost::time::{CopyInterval, ProductInterval};

    const BARRIERS: Activity = Activity::Waits(StallReason::Barriers);

    fn span(start: f64, end: f64, activity: Activity) -> Span {
        Span { start, end, activity }
    }

    /// A warp that copies, two that multiply, and one that ends at once.
    fn pipeline() -> Timeline {
        let warp = |warp, spans, (copies, products)| WarpTimeline { warp, spans, copies, products };
        let multiplies = vec![span(0.0, 25.0, BARRIERS), span(25.0, 100.0, Activity::Runs)];
        let copy = |start, end| CopyInterval { warp: 0, start, end, bytes: Bytes(1000) };
        let product = |start, end| ProductInterval { warp: 1, start, end };
        Timeline {
            cycles: 100.0,
            clock: Hertz(1e9),
            warps: vec![
                warp(0, vec![span(0.0, 10.0, Activity::Runs), span(10.0, 50.0, BARRIERS)], (2, 0)),
                warp(1, multiplies.clone(), (0, 2)),
                warp(2, multiplies, (0, 0)),
                warp(3, Vec::new(), (0, 0)),
            ],
            copies: vec![copy(0.0, 20.0), copy(10.0, 40.0)],
            products: vec![product(25.0, 50.0), product(50.0, 60.0), product(90.0, 100.0)],
        }
    }

    #[test]
    fn warps_are_summed_by_role() {
        let timeline = pipeline();
        let found: Vec<(WarpRole, Vec<u32>)> =
            roles(&timeline).into_iter().map(|role| (role.role, role.warps)).collect();
        let expected = [
            (WarpRole::Copies, vec![0]),
            (WarpRole::Multiplies, vec![1]),
            (WarpRole::Computes, vec![2, 3]),
        ];
        assert_eq!(found, expected);
        let [copies, _, computes] = roles(&timeline).try_into().unwrap();
        let shares = BTreeMap::from([(Activity::Runs, Fraction(0.1)), (BARRIERS, Fraction(0.4))]);
        assert_eq!(copies.shares, shares);
        // The warp that ends at once takes part in the mean.
        assert_eq!(computes.shares[&Activity::Runs], Fraction(0.375));
        assert_eq!(bytes_in_flight(&timeline), Bytes(500));
        assert_eq!(products_busy(&timeline), Fraction(0.45));
    }

    #[test]
    fn a_part_of_the_time_shows_what_takes_most_of_it() {
        let check = |spans: &[Span], expected: [Option<Activity>; 4]| {
            assert_eq!(sampled(spans, 40.0, 4), expected, "{spans:?}");
        };
        let runs = Some(Activity::Runs);
        let waits = Some(BARRIERS);
        check(&[], [None; 4]);
        check(&[span(0.0, 40.0, Activity::Runs)], [runs; 4]);
        check(
            &[span(0.0, 4.0, Activity::Runs), span(4.0, 20.0, BARRIERS)],
            [waits, waits, None, None],
        );
        let many = [(12.0, 13.0), (14.0, 15.0), (16.0, 17.0), (18.0, 19.0)];
        let many: Vec<Span> = many.map(|(start, end)| span(start, end, Activity::Runs)).into();
        check(&[&many[..], &[span(19.0, 25.0, BARRIERS)]].concat(), [None, runs, waits, None]);
    }

    #[test]
    fn a_figure_has_a_lane_for_copies_for_products_and_for_each_warp() {
        let figure = figure("pipeline", &pipeline()).unwrap();
        let lane = |item: &Item| {
            let Item::Span(span) = item else { panic!("{item:?}") };
            (span.row, span.x, span.name.clone())
        };
        let lanes: Vec<_> = figure.items().iter().map(lane).collect();
        let in_row = |row| lanes.iter().filter(|lane| lane.0 == row).count();
        // Copies that overlap and products that touch are one span each.
        assert_eq!((0..6).map(in_row).collect::<Vec<_>>(), [1, 2, 2, 2, 2, 0]);
        assert_eq!(lanes[0], (0, (0.0, 4e-8), "copies under way".to_owned()));
        let csv = figure.csv().unwrap();
        assert!(csv.contains("\"warp 0, waits at barriers\",1e-8,5e-8,modelled"), "{csv}");
    }

    #[test]
    fn a_lane_with_too_many_spans_is_sampled() {
        let mut timeline = pipeline();
        let turn = |index: u32| {
            let activity = if index.is_multiple_of(2) { Activity::Runs } else { BARRIERS };
            span(f64::from(index) / 100.0, f64::from(index + 1) / 100.0, activity)
        };
        timeline.warps[0].spans = (0..10_000).map(turn).collect();
        let figure = figure("many", &timeline).unwrap();
        let in_row = figure
            .items()
            .iter()
            .filter(|item| matches!(item, Item::Span(figure::Span { row: 2, .. })));
        let count = in_row.count();
        assert!(count > 1 && count <= MOST_SPANS, "{count}");
    }
}
