//! Runs side by side: one row per number, one column per run, and the best cells of each row.
//!
//! Numbers are compared only within one kind. Times whose intervals overlap the best are all best; if that holds for
//! every run, none is marked. Numbers without a better direction, such as registers, have no best.

#[cfg(test)]
mod tests;

use lightbench_core::history::StoredRun;
use lightbench_core::history::comparison_runs::recorded_range;
use lightbench_core::history::numbers::{CountedLocation, RecordedCounts};
use lightbench_core::history::record::{Outcome, WorkloadName};
use lightbench_core::history::timing::{Clock, Mode, RecordedTiming};
use lightbench_core::units::{Bytes, grouped};

use super::comparison::clock;

/// Numbers of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMatrix {
    /// Column titles.
    pub heads: Vec<String>,
    pub rows: Vec<MatrixRow>,
}

/// One number, for every run.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixRow {
    pub name: String,
    /// What the number tells the user.
    pub means: &'static str,
    /// The workload of a time.
    pub workload: Option<WorkloadName>,
    /// One cell per run.
    pub cells: Vec<Cell>,
}

/// One number of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The formatted number; empty if unknown.
    pub text: String,
    /// The source of the number, if it differs within the row.
    pub how: String,
    /// The confidence interval of a median; empty for other numbers.
    pub interval: String,
    pub rank: Rank,
}

/// Whether a cell is the best of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The best, or not distinguishable from it.
    Best,
    Other,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
    Neither,
}

/// A number before comparison.
struct Value {
    text: String,
    how: String,
    /// The interval that contains the number.
    between: (f64, f64),
    /// Only numbers of the same kind are compared.
    kind: String,
}

/// Column letters, from left to right.
pub const LETTERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

impl RunMatrix {
    /// The numbers of runs: times of every workload, everything else of `workload`.
    #[must_use]
    pub fn from_runs(runs: &[&StoredRun], workload: &str) -> Self {
        let mut names: Vec<&WorkloadName> = Vec::new();
        for name in runs.iter().flat_map(|run| recorded_workloads(run)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        // The selected workload comes first.
        names.sort_by_key(|name| name.as_str() != workload);
        let mut rows = vec![verdicts(runs)];
        for name in &names {
            rows.push(time(runs, name));
        }
        if let Some(name) = names.first() {
            rows.extend(numbers(runs, name));
        }
        rows.retain(|row| row.cells.iter().any(|cell| !cell.text.is_empty()));
        let heads = runs.iter().zip(LETTERS);
        let head = |(run, letter): (&&StoredRun, &str)| {
            let label = run.label.as_ref().map(|label| format!(" “{label}”")).unwrap_or_default();
            format!("{letter} #{} {}{label}", run.number, run.record.kernel)
        };
        Self { heads: heads.map(head).collect(), rows }
    }

    /// The matrix as a Markdown table; best cells are bold.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let plain = |text: &str| text.replace('|', "\\|");
        let heads = std::iter::once(String::new()).chain(self.heads.iter().map(|head| plain(head)));
        let mut text = line(heads.collect());
        text += &line(vec!["---".to_owned(); self.heads.len() + 1]);
        for row in &self.rows {
            let cells = row.cells.iter().map(|cell| {
                let parts = [cell.how.as_str(), cell.interval.as_str()];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let how = if parts.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", parts.join(", "))
                };
                match (cell.rank, cell.text.is_empty()) {
                    (_, true) => String::new(),
                    (Rank::Best, false) => format!("**{}**{}", plain(&cell.text), plain(&how)),
                    (Rank::Other, false) => plain(&format!("{}{how}", cell.text)),
                }
            });
            text += &line(std::iter::once(plain(&row.name)).chain(cells).collect());
        }
        text
    }
}

/// The workloads with recorded numbers.
fn recorded_workloads(run: &StoredRun) -> Vec<&WorkloadName> {
    match &run.record.outcome {
        Outcome::Passed { timings, withheld, numbers, .. } => {
            let timed = timings.iter().filter(|timing| timing.mode == Mode::Cold);
            let timed = timed.map(|timing| &timing.workload);
            timed.chain(withheld.keys()).chain(numbers.keys()).collect()
        }
        Outcome::Failed { .. } => Vec::new(),
    }
}

fn cold<'a>(run: &'a StoredRun, workload: &WorkloadName) -> Option<&'a RecordedTiming> {
    let mut times = run.record.timings().iter();
    times.find(|timing| timing.mode == Mode::Cold && timing.workload == *workload)
}

fn verdicts(runs: &[&StoredRun]) -> MatrixRow {
    let words = runs.iter().map(|run| {
        let (how, interval) = (String::new(), String::new());
        Cell { text: run.record.verdict().replace('_', " "), how, interval, rank: Rank::Other }
    });
    let cells = words.collect();
    MatrixRow { name: "verdict".to_owned(), means: "Verdict", workload: None, cells }
}

fn time(runs: &[&StoredRun], workload: &WorkloadName) -> MatrixRow {
    let values = runs.iter().map(|run| {
        let timing = cold(run, workload)?;
        let median = timing.median.seconds();
        let between =
            recorded_range(timing).map_or((median.0, median.0), |(low, high)| (low.0, high.0));
        Some(Value {
            text: median.to_string(),
            how: clock(&timing.clock),
            between,
            kind: kind(run, &timing.clock),
        })
    });
    let means = "The median with cold caches; times that cannot be distinguished from the fastest are marked too";
    let row = ranked(format!("time, {workload}"), means, Better::Less, values.collect());
    let mut row = MatrixRow { workload: Some(workload.clone()), ..row };
    for (cell, run) in row.cells.iter_mut().zip(runs) {
        let spread = cold(run, workload).and_then(|timing| timing.spread);
        if let Some((low, high)) = spread.map(|spread| spread.interval) {
            cell.interval = format!("{} to {}", low.seconds(), high.seconds());
        }
        if let (true, Outcome::Passed { withheld, .. }) =
            (cell.text.is_empty(), &run.record.outcome)
            && let Some(reason) = withheld.get(workload)
        {
            (cell.text, cell.how) = ("no time".to_owned(), reason.clone());
        }
    }
    row
}

/// The kind of a time: clock, device and task must agree.
fn kind(run: &StoredRun, clock: &Clock) -> String {
    let record = &run.record;
    format!("{:?} {:?} {:?} {clock:?}", run.provenance, record.device, record.definition)
}

/// All numbers of a workload besides its time.
fn numbers(runs: &[&StoredRun], workload: &WorkloadName) -> Vec<MatrixRow> {
    let row = |name: &str, means, better, value: ReadValue<'_>| {
        let values = runs.iter().map(|run| value(run));
        ranked(name.to_owned(), means, better, values.collect())
    };
    let mut rows = against_bound(&row, runs, workload);
    rows.extend(needs(&row, workload));
    rows.extend(counts(&row, workload));
    rows
}

type ReadValue<'a> = &'a dyn Fn(&StoredRun) -> Option<Value>;
type MakeRow<'a> = &'a dyn Fn(&str, &'static str, Better, ReadValue<'_>) -> MatrixRow;

/// The time relative to its bound.
fn against_bound(row: MakeRow<'_>, runs: &[&StoredRun], workload: &WorkloadName) -> Vec<MatrixRow> {
    let bound = row("bound", "The least time of any correct kernel", Better::Neither, &|run| {
        let of = |run: &StoredRun| Some(cold(run, workload)?.standing.as_ref()?.bound.seconds());
        // The bound belongs to task and device: a run without a time takes that of another run.
        let alike = |other: &&&StoredRun| {
            let (own, other) = (&run.record, &other.record);
            (&own.device, &own.definition) == (&other.device, &other.definition)
        };
        let bound = of(run).or_else(|| runs.iter().filter(alike).find_map(|other| of(other)));
        Some(plain(bound?.to_string(), 0.0))
    });
    let means = "The bound divided by the time";
    let reached = row("of the speed of light", means, Better::More, &|run| {
        let timing = cold(run, workload)?;
        let (standing, share) = timing.standing.as_ref().zip(timing.share())?;
        // Its interval follows from the interval of the time.
        let (middle, median) = (share.middle.0, timing.median.seconds());
        let between = recorded_range(timing).map_or((middle, middle), |(low, high)| {
            (middle * (median / high).0, middle * (median / low).0)
        });
        let kind = format!("{} {}", kind(run, &timing.clock), standing.peaks);
        let (text, how) = (share.middle.to_string(), clock(&timing.clock));
        Some(Value { text, how, between, kind })
    });
    let limiter = row("limited by", "What the time is spent on", Better::Neither, &|run| {
        Some(plain(cold(run, workload)?.limiter.as_ref()?.words.clone(), 0.0))
    });
    vec![bound, reached, limiter]
}

/// Resource use of the compiled kernel.
fn needs(row: MakeRow<'_>, workload: &WorkloadName) -> Vec<MatrixRow> {
    let of = |run: &StoredRun| run.record.numbers(workload).cloned();
    let neither = Better::Neither;
    vec![
        row("registers", "Per thread; fewer are not better by themselves", neither, &|run| {
            Some(counted(of(run)?.registers?.into()))
        }),
        row(
            "spilled bytes",
            "Bytes stored and loaded because registers did not suffice",
            Better::Less,
            &|run| Some(counted(of(run)?.spilled?.0)),
        ),
        row("shared memory", "Per block; less is not better by itself", neither, &|run| {
            let bytes = of(run)?.shared?;
            Some(plain(bytes.to_string(), bytes.0 as f64))
        }),
        row("occupancy", "Resident warps; more are not better by themselves", neither, &|run| {
            let fraction = of(run)?.occupancy?;
            Some(plain(fraction.to_string(), fraction.0))
        }),
    ]
}

/// Counters.
fn counts(row: MakeRow<'_>, workload: &WorkloadName) -> Vec<MatrixRow> {
    type Number = fn(&RecordedCounts) -> Option<(f64, String)>;
    let rows: [(&str, &'static str, Better, Number); 6] = [
        (
            "DRAM bytes at least",
            "Distinct bytes of accessed global memory",
            Better::Less,
            |counts| counts.touched.map(size),
        ),
        ("L2 bytes at most", "Bytes of the requested sectors", Better::Less, |counts| {
            Some(size(counts.asked))
        }),
        ("warp instructions", "Executed by all warps", Better::Less, |counts| {
            whole(counts.warp_instructions)
        }),
        (
            "bank conflicts",
            "Additional shared-memory passes caused by bank conflicts",
            Better::Less,
            |counts| whole(counts.bank_conflicts),
        ),
        ("divergent branches", "Divergent branches", Better::Less, |counts| {
            whole(counts.divergent_branches)
        }),
        ("active lanes", "Active threads per warp instruction, of 32", Better::More, |counts| {
            counts.active_lanes.map(|lanes| (lanes, format!("{lanes:.1}")))
        }),
    ];
    let at = |run: &StoredRun| Some(run.record.numbers(workload)?.counted.as_ref()?.at.clone());
    // Counters of a small workload must not be read as those of the timed workload.
    let place_row = row("counted", "The workload of the counters below", Better::Neither, &|run| {
        Some(plain(place(&at(run)?), 0.0))
    });
    let made = rows.into_iter().map(|(name, means, better, number)| {
        row(name, means, better, &|run| {
            let counts = run.record.numbers(workload)?.counted.as_ref()?;
            let (number, text) = number(counts)?;
            let place = place(&counts.at);
            Some(Value { text, how: place.clone(), between: (number, number), kind: place })
        })
    });
    std::iter::once(place_row).chain(made).collect()
}

/// Where counters come from, as text.
#[must_use]
pub fn place(at: &CountedLocation) -> String {
    match at {
        CountedLocation::SameWorkload => "on this workload".to_owned(),
        CountedLocation::SmallerWorkload { device, workload } => {
            format!("on {device} in {workload}")
        }
    }
}

fn whole(count: u64) -> Option<(f64, String)> {
    Some((count as f64, grouped(count)))
}

fn size(bytes: Bytes) -> (f64, String) {
    (bytes.0 as f64, bytes.to_string())
}

fn plain(text: String, number: f64) -> Value {
    Value { text, how: String::new(), between: (number, number), kind: String::new() }
}

fn counted(count: u64) -> Value {
    plain(grouped(count), count as f64)
}

fn ranked(
    name: String,
    means: &'static str,
    better: Better,
    values: Vec<Option<Value>>,
) -> MatrixRow {
    let best = best(better, &values);
    let cells = values.into_iter().zip(best).map(|(value, rank)| match value {
        Some(Value { text, how, .. }) => Cell { text, how, interval: String::new(), rank },
        None => Cell { text: String::new(), how: String::new(), interval: String::new(), rank },
    });
    MatrixRow { name, means, workload: None, cells: cells.collect() }
}

fn best(better: Better, values: &[Option<Value>]) -> Vec<Rank> {
    let none = vec![Rank::Other; values.len()];
    let mut known = values.iter().flatten();
    let Some(first) = known.next() else { return none };
    if !known.all(|value| value.kind == first.kind) {
        return none;
    }
    let edge = |value: &Value| match better {
        Better::Less => value.between,
        Better::More => (-value.between.1, -value.between.0),
        Better::Neither => (0.0, 0.0),
    };
    let reached = values.iter().flatten().map(|value| edge(value).1).fold(f64::INFINITY, f64::min);
    let is_best =
        |value: &Option<Value>| value.as_ref().is_some_and(|value| edge(value).0 <= reached);
    if values.iter().flatten().all(|value| edge(value).0 <= reached) {
        return none;
    }
    values.iter().map(|value| if is_best(value) { Rank::Best } else { Rank::Other }).collect()
}
