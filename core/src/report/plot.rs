//! Times over runs as coordinates of a picture: the newest to the right, faster below, a logarithmic scale.

use serde::Serialize;

use crate::units::Seconds;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 20.0;

/// Colours that are told apart; further series take them again, with their names beside.
const COLOURS: usize = 8;

/// A time on its way into a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) series: String,
    pub(super) label: String,
    pub(super) seconds: f64,
    pub(super) hollow: bool,
}

/// A picture of times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    ticks: Vec<Tick>,
    series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Tick {
    y: f64,
    label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Series {
    name: String,
    colour: usize,
    marks: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Mark {
    x: f64,
    y: f64,
    label: String,
    hollow: bool,
}

/// The picture of points in the order of their runs; none where there are none.
pub(super) fn plot(points: &[Point]) -> Option<Plot> {
    let times = || points.iter().map(|point| point.seconds.log10());
    let lowest = times().min_by(f64::total_cmp)?;
    let highest = times().max_by(f64::total_cmp)?;
    // A little room on both sides, and some height for points that are all alike.
    let (low, high) = (lowest - 0.05, highest + 0.05);
    let y = |log: f64| rounded(TOP + (high - log) / (high - low) * (HEIGHT - TOP - BOTTOM));
    let step = (WIDTH - LEFT - RIGHT) / points.len() as f64;
    let mut series: Vec<Series> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let mark = Mark {
            x: rounded(LEFT + (index as f64 + 0.5) * step),
            y: y(point.seconds.log10()),
            label: point.label.clone(),
            hollow: point.hollow,
        };
        match series.iter_mut().find(|known| known.name == point.series) {
            Some(known) => known.marks.push(mark),
            None => {
                let colour = series.len() % COLOURS;
                series.push(Series { name: point.series.clone(), colour, marks: vec![mark] });
            }
        }
    }
    let ticks = ticks(low, high).into_iter();
    let ticks = ticks.map(|log| Tick { y: y(log), label: Seconds(10_f64.powf(log)).to_string() });
    let (ticks, right) = (ticks.collect(), WIDTH - RIGHT);
    Some(Plot { width: WIDTH, height: HEIGHT, left: LEFT, right, ticks, series })
}

/// A tenth of a unit of the picture.
fn rounded(coordinate: f64) -> f64 {
    (coordinate * 10.0).round() / 10.0
}

/// Logarithms of round numbers between both ends: powers of ten, and their multiples where those are few.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let multiples: &[f64] = match high - low {
        span if span > 4.0 => &[1.0],
        span if span > 0.8 => &[1.0, 2.0, 5.0],
        _ => &[
            1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0,
            8.0, 9.0,
        ],
    };
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let all = (first..=last).flat_map(|power| {
        multiples.iter().map(move |multiple| f64::from(power) + multiple.log10())
    });
    all.filter(|log| (low..=high).contains(log)).collect()
}
