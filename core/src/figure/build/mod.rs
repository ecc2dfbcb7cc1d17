//! Builders of figures.

pub(super) mod bandwidth;
pub(super) mod best_so_far;
pub(super) mod distribution;
pub(super) mod over_runs;
pub(super) mod roofline;
pub(super) mod scaling;
pub(super) mod speed_of_light;
pub(super) mod timeline;
pub(super) mod workloads;

use super::content::Change;
use super::{Course, Direction, Hue, Item, Line, Meaning, Stroke};

/// A line that only leads the eye.
fn hair(course: Course) -> Item {
    let (stroke, hue) = (Stroke::Hair, Hue::Quiet);
    Item::Line(Line { course, stroke, hue, label: None, meaning: None })
}

/// A line of a ceiling or bound.
fn ceiling(course: Course, stroke: Stroke, label: Option<String>, meaning: Meaning) -> Item {
    Item::Line(Line { course, stroke, hue: Hue::Ink, label, meaning: Some(meaning) })
}

/// The change relative to another time, in percent; less is better. Changes below 0.1 % are not shown.
fn change_of_time(time: f64, other: f64) -> Option<Change> {
    let percent = (time / other - 1.0) * 100.0;
    percent.is_finite().then(|| {
        let text = format!("{:.1} %", percent.abs());
        if percent.abs() < 0.1 {
            Change { text: "same".to_owned(), direction: Direction::Same }
        } else if percent < 0.0 {
            Change { text: format!("{text} faster"), direction: Direction::Up }
        } else {
            Change { text: format!("{text} slower"), direction: Direction::Down }
        }
    })
}
