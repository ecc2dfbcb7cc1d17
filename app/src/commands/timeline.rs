//! `lightbench timeline`: what the warps of a block do at each time, as modelled.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::figure::{Page, svg};
use lightbench_core::report::document::timeline::{
    LaunchTimelineReport, TimelineReport, TimelineSchema,
};
use lightbench_core::timeline::{self, RoleSummary, WarpRole};
use lightbench_core::units::{Fraction, Seconds};
use lightbench_core::virtual_gpu::cost::time::{Activity, Span, StallReason, Timeline};
use lightbench_core::whole_file;

use super::python_setup;
use super::virtual_target::{Selection, VirtualTarget, not_run};
use crate::args;
use crate::outcome::{Outcome, report_document};
use crate::report;
use crate::session::Session;
use crate::table::Table;

/// Characters of the strip of a warp: with its name and a note, a line has 80.
const COLUMNS: usize = 48;

/// Width of the exported figure, in points; its height follows from the number of lanes.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 320.0;

/// Of [`StallReason::ALL`] from the fourth, in one word each.
const HEADINGS: [&str; 8] =
    ["warps", "role", ">runs", ">global", ">shared", ">results", ">barriers", ">atomics"];

/// Models the kernel and prints the timeline of the first block of each launch.
pub fn run(session: &Session, arguments: &args::Timeline) -> Outcome {
    modelled(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn modelled(session: &Session, arguments: &args::Timeline) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let selection = Selection {
        path: &arguments.target,
        kernel: arguments.kernel.clone(),
        workload: arguments.workload.as_deref(),
        device: &arguments.device,
        seed: arguments.seed,
        as_json,
    };
    let target = VirtualTarget::resolve(selection, |_| None)?;
    let mut compiler =
        python_setup::compiler(session).map_err(|failure| failure.outcome(as_json))?;
    let launches = timeline::model(&mut compiler, &target.request(), &session.cancellation);
    let launches = launches.map_err(|error| not_run(&error, as_json))?;
    let modelled =
        launches.iter().filter_map(|launch| Some((launch, launch.timeline.as_ref().ok()?)));
    let longest = modelled.max_by(|a, b| a.1.cycles.total_cmp(&b.1.cycles));
    let (kernel, workload) = (&target.kernel.name, &target.workload.name);
    let Some((longest, timeline)) = longest else {
        let reason = launches.iter().find_map(|launch| launch.timeline.as_ref().err());
        let reason = reason.map_or_else(|| "it launches nothing".to_owned(), ToString::to_string);
        let message = format!("{kernel} on {workload} is not modelled: {reason}");
        return Err(report::environment(&message, as_json));
    };
    let mut written = String::new();
    if let Some(path) = &arguments.svg {
        let title = format!("{kernel}, {workload}: {}", with_readable_names(&longest.kernel));
        let figure = timeline::figure(&title, timeline);
        let figure = figure.map_err(|error| report::environment(&error, as_json))?;
        let text = svg(&figure, (WIDTH, HEIGHT), Page::Alone);
        whole_file::replace(path, text.as_bytes())
            .map_err(|error| report::unwritten(path, &error, as_json))?;
        written = format!("figure in {}\n", path.display());
    }
    Ok(Outcome::passed(match as_json {
        true => report_document(&TimelineReport {
            schema: TimelineSchema::V1,
            kernel: kernel.clone(),
            workload: workload.clone(),
            device: target.sheet.name.to_string(),
            launches: launches.iter().map(LaunchTimelineReport::new).collect(),
        }),
        false => {
            let texts = launches.iter().map(|launch| {
                let symbol = with_readable_names(&launch.kernel);
                match &launch.timeline {
                    Ok(timeline) => timeline_text(&symbol, timeline),
                    Err(reason) => format!("{symbol} is not modelled: {reason}\n"),
                }
            });
            texts.collect::<Vec<_>>().join("\n") + &written
        }
    }))
}

fn timeline_text(symbol: &str, timeline: &Timeline) -> String {
    let time = Seconds(timeline.cycles / timeline.clock.0);
    let mut text = format!("{symbol}: the first block takes {time}, modelled\n\n");
    text.push_str(&shares(&timeline::roles(timeline)));
    text.push('\n');
    let under_way = timeline.copies.iter().map(|copy| (copy.start, copy.end));
    if !timeline.copies.is_empty() {
        let held = timeline::bytes_in_flight(timeline);
        line(&mut text, "copies", &strip(under_way, timeline), &format!("{held} on average"));
    }
    if !timeline.products.is_empty() {
        let intervals = timeline.products.iter().map(|product| (product.start, product.end));
        let busy = timeline::products_busy(timeline);
        line(&mut text, "products", &strip(intervals, timeline), &format!("{busy} of the time"));
    }
    let strips: Vec<(u32, String)> = timeline
        .warps
        .iter()
        .map(|warp| (warp.warp, letters(&warp.spans, timeline.cycles)))
        .collect();
    for equal in strips.chunk_by(|a, b| a.1 == b.1) {
        let (Some((first, strip)), Some((last, _))) = (equal.first(), equal.last()) else {
            continue;
        };
        line(&mut text, &range("warp", *first, *last), strip, "");
    }
    text.push_str(
        "= runs, # under way; waits: g global, s shared, r results, b barriers, a atomics\n",
    );
    text
}

fn line(text: &mut String, name: &str, strip: &str, note: &str) {
    text.push_str(format!("{name:<11} {strip} {note}").trim_end());
    text.push('\n');
}

fn range(what: &str, first: u32, last: u32) -> String {
    if first == last { format!("{what} {first}") } else { format!("{what}s {first}-{last}") }
}

fn shares(roles: &[RoleSummary]) -> String {
    let mut table = Table::new(&HEADINGS);
    for RoleSummary { role, warps, shares } in roles {
        let share = |activity| {
            let share: Option<&Fraction> = shares.get(&activity);
            share.map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share.0))
        };
        let waits = StallReason::ALL.map(|reason| share(Activity::Waits(reason)));
        let own = [ranges(warps), WarpRole::word(*role).to_owned(), share(Activity::Runs)];
        table.row(own.into_iter().chain(waits));
    }
    table.to_string()
}

/// Ascending indices as ranges: `0-3, 8`.
fn ranges(indices: &[u32]) -> String {
    let runs = indices.chunk_by(|a, b| a + 1 == *b);
    let text = runs.filter_map(|run| match run {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    text.collect::<Vec<_>>().join(", ")
}

/// The columns in which an interval lies.
fn strip(intervals: impl Iterator<Item = (f64, f64)>, timeline: &Timeline) -> String {
    let spans: Vec<Span> =
        intervals.map(|(start, end)| Span { start, end, activity: Activity::Runs }).collect();
    let covered = timeline::sampled(&spans, timeline.cycles, COLUMNS);
    covered.into_iter().map(|covered| if covered.is_some() { '#' } else { '.' }).collect()
}

fn letters(spans: &[Span], cycles: f64) -> String {
    let letter = |activity| match activity {
        None => '.',
        Some(Activity::Runs) => '=',
        Some(Activity::Waits(StallReason::GlobalMemory)) => 'g',
        Some(Activity::Waits(StallReason::SharedMemory)) => 's',
        Some(Activity::Waits(StallReason::Arithmetic)) => 'r',
        Some(Activity::Waits(StallReason::Barriers)) => 'b',
        Some(Activity::Waits(StallReason::Atomics)) => 'a',
    };
    timeline::sampled(spans, cycles, COLUMNS).into_iter().map(letter).collect()
}
