//! The roofline as text: the device's roofs, and each kernel below them.

use lightbench_core::measure::{Clock, Timing};
use lightbench_core::project::Workload;
use lightbench_core::project::manifest::OperationKind;
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::permitted_pipes::named;
use lightbench_core::speed_of_light::roofline::{Level, Point, Traffic, attainable, point, ridge};
use lightbench_core::units::{BytesPerSecond, FlopsPerSecond, Fraction, Intensity, Seconds};

use super::{Tour, narrative};
use crate::style::{DIM, STRONG};
use crate::table::Table;

/// Width of the plot without its scale, in columns.
const COLUMNS: usize = 60;

/// Height of the plot, in rows.
const ROWS: usize = 14;

/// Kernel marks in tour order; further kernels share the last.
const MARKS: &[u8] = b"123456789+";

/// Column titles.
const HEADINGS: [&str; 6] =
    ["", "kernel", ">bytes a second", ">of the roof", ">FLOP a second", "how"];

/// The plot with its legend; empty if no kernel was timed or the memory bandwidth is unknown.
pub(super) fn roofline_text(tour: &Tour<'_>) -> String {
    let Some(workload) = narrative::workload(tour) else { return String::new() };
    let calibration = tour.chosen.calibration().map(AsRef::as_ref);
    let basis = if calibration.is_some() { Basis::Measured } else { Basis::Sheet };
    let ceilings = Ceilings::new(tour.chosen.sheet, calibration, basis);
    let work = MinimalWork::new(&tour.project.definition, workload);
    let Some(memory) = ceilings.dram.as_ref().map(|rate| rate.value) else { return String::new() };
    let stands: Vec<KernelPoint> = stands(tour, &work);
    let mut text = format!("\n{STRONG}roofline{STRONG:#} · {}\n", heading(tour, workload));
    let kind = match work.count(OperationKind::Contraction).0 > 0.0 {
        true => OperationKind::Contraction,
        false => OperationKind::Arithmetic,
    };
    let pipe = named(kind, &work, &ceilings).map(|(pipe, rate)| (pipe.to_string(), rate.value));
    let points: Vec<(u8, Point)> =
        stands.iter().filter_map(|stand| Some((stand.mark, stand.point?))).collect();
    if let (Some((name, pipe)), false) = (&pipe, points.is_empty()) {
        text += &AsciiPlot::new(*pipe, memory, &points).text(name, basis);
    }
    if points.is_empty() && stands.iter().any(|stand| stand.bandwidth.is_some()) {
        text += "no roofline: the task has no floating-point operations\n\n";
    }
    text += &legend(&stands, memory).to_string();
    text + &format!(
        "{DIM}bytes are the compulsory traffic of any kernel; the bounds above let L2 retain part of the writes{DIM:#}\n"
    )
}

fn heading(tour: &Tour<'_>, workload: &Workload) -> String {
    let bytes = MinimalWork::new(&tour.project.definition, workload).moved();
    format!("{}, {bytes} of compulsory traffic", workload.name)
}

/// A kernel on the roofline.
struct KernelPoint {
    mark: u8,
    name: String,
    point: Option<Point>,
    bandwidth: Option<BytesPerSecond>,
    /// The source of the time, or why the run has no time.
    how: String,
}

fn stands(tour: &Tour<'_>, work: &MinimalWork) -> Vec<KernelPoint> {
    let stand = |(index, (step, run)): (usize, &(super::TourStep<'_>, _))| {
        let mark = MARKS[index.min(MARKS.len() - 1)];
        let timed = narrative::summary_timing(run);
        let time = timed.and_then(|timed| timed.cold()).map(time);
        let moved = (work.moved(), Traffic::Compulsory);
        let withheld = timed.and_then(|timed| timed.withheld.clone());
        let (point, bandwidth, how) = match time {
            Some((seconds, how)) => {
                let point = point(work, seconds, Level::Dram, moved).ok();
                (point, Some(work.moved() / seconds), how.to_owned())
            }
            None => (None, None, short(&withheld.unwrap_or_else(|| "it failed".to_owned()))),
        };
        KernelPoint { mark, name: step.kernel.name.clone(), point, bandwidth, how }
    };
    tour.steps.iter().enumerate().map(stand).collect()
}

/// The plotted time and its source; for a modelled time the middle of its band.
fn time(timing: &Timing) -> (Seconds, &'static str) {
    let how = match timing.clock {
        Clock::Events { .. } | Clock::Cupti { .. } => "measured",
        Clock::Modelled => "modelled, middle of the band",
    };
    (timing.summary.median, how)
}

/// A reason without its details.
fn short(reason: &str) -> String {
    let first = reason.split([':', ';']).next().unwrap_or_default();
    format!("no time: {first}")
}

fn legend(stands: &[KernelPoint], memory: BytesPerSecond) -> Table {
    let mut table = Table::new(&HEADINGS);
    for stand in stands {
        let share = stand.bandwidth.map(|rate| Fraction(rate.0 / memory.0).to_string());
        table.row([
            char::from(stand.mark).to_string(),
            stand.name.clone(),
            stand.bandwidth.map(|rate| rate.to_string()).unwrap_or_default(),
            share.unwrap_or_default(),
            stand.point.map(|point| point.rate.to_string()).unwrap_or_default(),
            stand.how.clone(),
        ]);
    }
    table
}

/// A plot of points below a roof with logarithmic axes.
struct AsciiPlot<'a> {
    pipe: FlopsPerSecond,
    memory: BytesPerSecond,
    points: &'a [(u8, Point)],
    /// Logarithms of the lowest and highest intensity.
    across: (f64, f64),
    /// Logarithms of the lowest and highest rate.
    up: (f64, f64),
}

impl<'a> AsciiPlot<'a> {
    fn new(pipe: FlopsPerSecond, memory: BytesPerSecond, points: &'a [(u8, Point)]) -> Self {
        let ridge = ridge(pipe, memory).0.log10();
        let intensities = points.iter().map(|(_, point)| point.intensity.0.log10());
        let rates = points.iter().map(|(_, point)| point.rate.0.log10());
        let (left, right) =
            intensities.fold((ridge, ridge), |(low, high), each| (low.min(each), high.max(each)));
        let across = (left - 0.7, right + 0.5);
        let lowest = rates.fold(f64::INFINITY, f64::min);
        let roof_left = attainable(Intensity(10_f64.powf(across.0)), pipe, memory).0.log10();
        let up = (lowest.min(roof_left) - 0.1, pipe.0.log10() + 0.2);
        Self { pipe, memory, points, across, up }
    }

    fn text(&self, pipe: &str, basis: Basis) -> String {
        let roof: Vec<usize> = (0..COLUMNS)
            .map(|column| self.row(attainable(self.intensity(column), self.pipe, self.memory)))
            .collect();
        let mut cells = vec![vec![b' '; COLUMNS]; ROWS];
        for (column, row) in roof.iter().enumerate() {
            cells[*row][column] = b'.';
        }
        for (mark, point) in self.points {
            cells[self.row(point.rate)][self.column(point.intensity)] = *mark;
        }
        let mut text = String::new();
        for (index, row) in cells.iter().enumerate() {
            let scale = match index {
                _ if roof.last() == Some(&index) => self.pipe.to_string(),
                _ if index == ROWS - 1 => self.rate(index).to_string(),
                _ => String::new(),
            };
            let line = String::from_utf8_lossy(row);
            let line = format!("{scale:>14} {DIM}│{DIM:#}{}", line.trim_end());
            text += &format!("{}\n", line.trim_end());
        }
        text + &self.scale() + &self.roofs(pipe, basis)
    }

    /// The intensity scale below the plot.
    fn scale(&self) -> String {
        let (left, right) =
            (self.intensity(0).to_string(), self.intensity(COLUMNS - 1).to_string());
        let gap = COLUMNS.saturating_sub(right.len());
        let line = "─".repeat(COLUMNS);
        format!("{:15}{DIM}└{line}{DIM:#}\n{:16}{left:<gap$}{right}\n", "", "")
    }

    /// The roofs, and which of them limits the task.
    fn roofs(&self, pipe: &str, basis: Basis) -> String {
        let by = match basis {
            Basis::Sheet => "the sheet",
            Basis::Measured => "measurements of this device",
        };
        let (memory, rate, ridge) = (self.memory, self.pipe, ridge(self.pipe, self.memory));
        let own = self.points.first().map(|(_, point)| point.intensity);
        let side = own.map(|own| {
            let limit = if own < ridge { "memory" } else { pipe };
            format!("; the task has {own}: limited by {limit}")
        });
        let side = side.unwrap_or_default();
        format!("roofs by {by}: DRAM {memory}, {pipe} {rate}; they meet at {ridge}{side}\n\n")
    }

    fn intensity(&self, column: usize) -> Intensity {
        let (left, right) = self.across;
        Intensity(10_f64.powf(left + (right - left) * column as f64 / (COLUMNS - 1) as f64))
    }

    fn column(&self, intensity: Intensity) -> usize {
        let (left, right) = self.across;
        nearest((intensity.0.log10() - left) / (right - left), COLUMNS)
    }

    fn rate(&self, row: usize) -> FlopsPerSecond {
        let (low, high) = self.up;
        FlopsPerSecond(10_f64.powf(high - (high - low) * row as f64 / (ROWS - 1) as f64))
    }

    fn row(&self, rate: FlopsPerSecond) -> usize {
        let (low, high) = self.up;
        nearest((high - rate.0.log10()) / (high - low), ROWS)
    }
}

/// The cell at a fraction of the axis; values outside are clamped.
fn nearest(part: f64, cells: usize) -> usize {
    let last = cells - 1;
    // The cast saturates: NaN maps to the first cell.
    ((part * last as f64).round() as usize).min(last)
}

#[cfg(test)]
mod tests {
    use lightbench_core::explain::card;

    use super::*;

    fn at(intensity: f64, rate: f64) -> Point {
        Point {
            level: Level::Dram,
            traffic: Traffic::Compulsory,
            intensity: Intensity(intensity),
            rate: FlopsPerSecond(rate),
            bandwidth: BytesPerSecond(rate / intensity),
        }
    }

    #[test]
    fn points_lie_below_the_roof_and_the_better_one_higher() {
        let points = [(b'1', at(1.0, 1e11)), (b'2', at(1.0, 4e12))];
        let picture = AsciiPlot::new(FlopsPerSecond(6.7e13), BytesPerSecond(4.8e12), &points);
        let text = picture.text("FP32", Basis::Sheet);
        let row =
            |mark: char| text.lines().position(|line| line.contains(&format!("{mark}"))).unwrap();
        let places: Vec<(usize, usize)> = [b'1', b'2']
            .iter()
            .zip(&points)
            .map(|(_, (_, point))| (picture.row(point.rate), picture.column(point.intensity)))
            .collect();
        assert!(places[0].0 > places[1].0 && places[0].1 == places[1].1, "{places:?}");
        let roof = picture.row(attainable(Intensity(1.0), picture.pipe, picture.memory));
        assert!(roof <= places[1].0, "{roof} {places:?}");
        assert!(row('.') < places[0].0);
        assert!(
            text.contains("they meet at 14.0 FLOP/B; the task has 1.00 FLOP/B: limited by memory"),
            "{text}"
        );
        assert_eq!(text.lines().filter(|line| line.contains('│')).count(), ROWS);
    }

    #[test]
    fn every_number_is_explained() {
        for heading in &HEADINGS[1..5] {
            assert!(card(heading.trim_start_matches('>')).is_ok(), "{heading}");
        }
    }

    #[test]
    fn what_is_no_number_stays_in_the_picture() {
        assert_eq!(nearest(f64::NAN, 10), 0);
        assert_eq!(nearest(-1.0, 10), 0);
        assert_eq!(nearest(7.0, 10), 9);
        assert_eq!(nearest(0.5, 11), 5);
    }
}
