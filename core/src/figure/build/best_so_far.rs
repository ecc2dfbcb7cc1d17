//! The progress of a search over its evaluations: every candidate, the best so far as steps, failures below the axis.

use super::super::{
    Axis, Band, Course, Depth, Emphasis, Figure, Hue, Item, Line, Mark, MarkId, Origin, Sign,
    Stroke, Undrawable, Unit,
};

/// A candidate of a search.
#[derive(Clone, Debug)]
pub struct SearchedCandidate {
    /// The number of the candidate.
    pub variant: i64,
    /// The name of the candidate.
    pub name: String,
    /// Evaluations until then.
    pub evaluations: usize,
    /// The outcome.
    pub outcome: CandidateOutcome,
    /// The origin of the times.
    pub origin: Origin,
    /// The emphasis.
    pub emphasis: Emphasis,
    /// Further details for the card.
    pub details: Vec<(String, String)>,
}

/// The outcome of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateOutcome {
    /// The best so far, with its speed-up over the first candidate.
    Best(f64),
    /// Not the best, with its speed-up over the first candidate.
    Time(f64),
    /// Failed, without a time.
    Failure,
}

/// The fraction of the height for failures.
const FAILURES: f64 = 0.16;

/// The candidates in the order of their evaluation.
///
/// # Errors
/// A number cannot be drawn.
pub fn best_so_far(found: &[SearchedCandidate]) -> Result<Figure, Undrawable> {
    let factors = || {
        found.iter().filter_map(|each| match each.outcome {
            CandidateOutcome::Best(factor) | CandidateOutcome::Time(factor) => Some(factor),
            CandidateOutcome::Failure => None,
        })
    };
    let low = factors().fold(1.0, f64::min);
    let high = factors().fold(1.0, f64::max).max(low * 1.1);
    // Above every number, so that no failure is taken for a slow variant.
    let edge = low - 0.08 * (high - low);
    let below = edge - FAILURES * (high - low);
    let x = Axis::from_zero("Evaluations", Unit::Count);
    let y = Axis::linear("Speed-up over the first", Unit::Factor).showing([high]);
    let mut figure = Figure::new("Best so far", x, y);
    let failed = found.iter().filter(|each| each.outcome == CandidateOutcome::Failure).count();
    if failed > 0 {
        let y = Some((below - 0.5 * FAILURES * (high - low), edge));
        figure.add(Item::Band(Band { x: None, y, hue: Hue::Quiet, depth: Depth::Shallow }))?;
        figure.add(Item::Line(Line {
            course: Course::Level { y: edge, from: None },
            stroke: Stroke::Hair,
            hue: Hue::Quiet,
            label: Some(format!("{failed} failed")),
            meaning: None,
        }))?;
    }
    stairs(&mut figure, found)?;
    for each in found {
        let (place, hue) = match each.outcome {
            CandidateOutcome::Best(factor) => (factor, Hue::Origin(each.origin)),
            CandidateOutcome::Time(factor) => (factor, Hue::Origin(each.origin)),
            CandidateOutcome::Failure => (below, Hue::Quiet),
        };
        let label = match (each.outcome, each.emphasis) {
            (CandidateOutcome::Best(_) | CandidateOutcome::Time(_), Emphasis::Chosen) => {
                Some(format!("#{}", each.variant))
            }
            (CandidateOutcome::Failure, _) | (_, Emphasis::Faint | Emphasis::Normal) => None,
        };
        figure.add(Item::Mark(Mark {
            id: MarkId::only(each.variant),
            name: each.name.clone(),
            x: (each.evaluations as f64).into(),
            y: place.into(),
            origin: each.origin,
            hue,
            emphasis: each.emphasis,
            label,
            details: each.details.clone(),
        }))?;
    }
    Ok(figure)
}

/// The best until then, from the first to the last evaluation.
fn stairs(figure: &mut Figure, found: &[SearchedCandidate]) -> Result<(), Undrawable> {
    let (mut course, mut best): (Vec<(f64, f64)>, Option<f64>) = (Vec::new(), None);
    for each in found {
        if let CandidateOutcome::Best(factor) = each.outcome {
            let at = each.evaluations as f64;
            course.extend(best.map(|before| (at, before)));
            course.push((at, factor));
            best = Some(factor);
        }
    }
    let (Some(last), Some(factor), Some(first)) = (found.last(), best, found.first()) else {
        return Ok(());
    };
    course.push((last.evaluations as f64, factor));
    let hue = Hue::Origin(first.origin);
    figure.explain(Sign::Stroke(Stroke::Solid), "best so far");
    let course = Course::Path(course);
    figure.add(Item::Line(Line { course, stroke: Stroke::Solid, hue, label: None, meaning: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variant: i64, evaluations: usize, came: CandidateOutcome) -> SearchedCandidate {
        let (origin, emphasis) = (Origin::Modelled, Emphasis::Normal);
        let (name, details) = (format!("variant {variant}"), Vec::new());
        SearchedCandidate { variant, name, evaluations, outcome: came, origin, emphasis, details }
    }

    #[test]
    fn failures_lie_below_every_time_and_stairs_only_rise() {
        let all = [
            found(0, 1, CandidateOutcome::Best(1.0)),
            found(1, 2, CandidateOutcome::Failure),
            found(2, 3, CandidateOutcome::Time(0.4)),
            found(3, 4, CandidateOutcome::Best(2.5)),
            found(4, 5, CandidateOutcome::Failure),
        ];
        let figure = best_so_far(&all).unwrap();
        let heights: Vec<(i64, f64)> = figure
            .items()
            .iter()
            .filter_map(Item::mark)
            .map(|mark| (mark.id.of, mark.y.value))
            .collect();
        let (failures, times): (Vec<_>, Vec<_>) =
            heights.iter().partition(|(variant, _)| matches!(variant, 1 | 4));
        assert_eq!((failures.len(), times.len()), (2, 3));
        let lowest = times.iter().map(|(_, height)| *height).fold(f64::MAX, f64::min);
        assert!(failures.iter().all(|(_, height)| *height < lowest), "{heights:?}");
        let path = figure.items().iter().find_map(|item| match item {
            Item::Line(Line { course: Course::Path(path), .. }) => Some(path.clone()),
            Item::Mark(_)
            | Item::Line(_)
            | Item::Band(_)
            | Item::Span(_)
            | Item::Bar(_)
            | Item::Arrow(_)
            | Item::Cloud(_) => None,
        });
        let expected = vec![(1.0, 1.0), (4.0, 1.0), (4.0, 2.5), (5.0, 2.5)];
        assert_eq!(path, Some(expected));
    }

    #[test]
    fn what_has_no_place_is_refused_and_nothing_is_a_figure() {
        assert!(best_so_far(&[]).is_ok());
        assert!(best_so_far(&[found(0, 1, CandidateOutcome::Best(f64::NAN))]).is_err());
        assert!(best_so_far(&[found(0, 1, CandidateOutcome::Failure)]).is_ok());
    }
}
