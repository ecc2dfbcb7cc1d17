//! The rows of the history, grouped into families with a header each, or as one list.

use std::collections::BTreeMap;
use std::sync::Arc;

use lightbench_core::history::better;

use super::families::{Families, Family};
use super::runs::{BasisNumber, Grouping, RunFilter, RunRow, Runs};

/// The visible lines and the groups that their headers describe.
#[derive(Clone, Debug, Default)]
pub struct GroupedRuns {
    pub lines: Vec<HistoryLine>,
    pub groups: Vec<CandidateGroup>,
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryLine {
    /// The header of a group, by index in `groups`.
    Head(u32),
    /// A run, by row index.
    Run(u32),
}

/// The runs of one family that pass the filter.
#[derive(Clone, Debug)]
pub struct CandidateGroup {
    pub family: Family,
    /// The kernel of the oldest candidate.
    pub name: Arc<str>,
    pub runs: usize,
    pub passed: usize,
    /// Row index of the fastest run that is comparable with the newest one.
    pub best: Option<u32>,
    pub fold: Fold,
}

/// Whether the runs of a group are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

impl Runs {
    /// The visible lines, in order. Groups are ordered by their first rows.
    #[must_use]
    pub fn lines(&self, view: &RunFilter) -> GroupedRuns {
        let places = self.filtered(view);
        match view.grouping {
            Grouping::None => GroupedRuns {
                lines: places.into_iter().map(HistoryLine::Run).collect(),
                groups: Vec::new(),
            },
            Grouping::Lineage => self.grouped(view, &places),
        }
    }

    fn grouped(&self, view: &RunFilter, places: &[u32]) -> GroupedRuns {
        let mut members: Vec<(Family, Vec<u32>)> = Vec::new();
        let mut known: BTreeMap<Family, usize> = BTreeMap::new();
        let resolved = self.families().resolved();
        for place in places {
            let Some(row) = self.rows().get(*place as usize) else { continue };
            let Some(family) = Families::family_of(&resolved, row.descent) else { continue };
            let at = *known.entry(family).or_insert_with(|| {
                members.push((family, Vec::new()));
                members.len() - 1
            });
            members[at].1.push(*place);
        }
        let mut shown = GroupedRuns::default();
        for ((family, places), at) in members.into_iter().zip(0..) {
            let group = self.group(view, family, &places);
            shown.lines.push(HistoryLine::Head(at));
            if group.fold == Fold::Open {
                shown.lines.extend(places.into_iter().map(HistoryLine::Run));
            }
            shown.groups.push(group);
        }
        shown
    }

    fn group(&self, view: &RunFilter, family: Family, places: &[u32]) -> CandidateGroup {
        let rows =
            || places.iter().filter_map(|place| Some((*place, self.rows().get(*place as usize)?)));
        let oldest = rows().min_by_key(|(place, _)| *place).map(|(_, row)| &row.kernel);
        let name = self.families().kernel(family).or(oldest);
        CandidateGroup {
            family,
            name: name.map_or_else(|| "".into(), Arc::clone),
            runs: places.len(),
            passed: rows().filter(|(_, row)| row.failure.is_none()).count(),
            best: best(rows()),
            fold: if view.folded.contains(&family) { Fold::Closed } else { Fold::Open },
        }
    }
}

/// The fastest run that is comparable with the newest one; times of another task or device are excluded.
fn best<'a>(rows: impl Iterator<Item = (u32, &'a RunRow)> + Clone) -> Option<u32> {
    let scored = rows.filter_map(|(place, row)| {
        let (seconds, basis) = row.standard_score()?;
        Some((place, (seconds, row.number), basis))
    });
    let newest = scored.clone().max_by_key(|(place, ..)| *place);
    let basis: BasisNumber = newest?.2;
    let alike = scored.filter(|(.., own)| *own == basis);
    alike.min_by(|(_, one, _), (_, other, _)| better(*one, *other)).map(|(place, ..)| place)
}

#[cfg(test)]
mod tests {
    use lightbench_core::history::Provenance;

    use super::*;
    use crate::workbench::runs::Sort;
    use crate::workbench::tests::stored;

    fn runs() -> Runs {
        let mut runs = Runs::default();
        for (number, kernel, parent, seconds) in [
            (1, "naive", None, Some(4e-4)),
            (2, "warp", None, Some(3e-4)),
            (3, "naive", Some(1), Some(2e-4)),
            (4, "naive-3", Some(3), None),
            (5, "warp", Some(2), Some(5e-4)),
        ] {
            let mut run = stored(number, kernel, 0, seconds);
            run.record.parent = parent.map(|parent: i64| format!("{parent:0<64x}"));
            runs.add(&[run]);
        }
        let mut faster = stored(6, "warp", 0, Some(1e-5));
        faster.provenance = Provenance::Recorded;
        faster.record.parent = Some(format!("{:0<64x}", 2));
        runs.add(&[faster]);
        runs
    }

    /// Checks headers as `name runs passed best` and runs by number.
    fn check(runs: &Runs, view: &RunFilter, expected: &[&str]) {
        let shown = runs.lines(view);
        let number = |place: u32| runs.rows()[place as usize].number;
        let told: Vec<String> = shown
            .lines
            .iter()
            .map(|line| match line {
                HistoryLine::Run(place) => number(*place).to_string(),
                HistoryLine::Head(at) => {
                    let group = &shown.groups[*at as usize];
                    let best = group
                        .best
                        .map_or_else(|| "none".to_owned(), |best| number(best).to_string());
                    format!("{} {} {} {best}", group.name, group.runs, group.passed)
                }
            })
            .collect();
        assert_eq!(told, expected, "{view:?}");
    }

    #[test]
    fn of_equally_fast_runs_the_earlier_is_the_best_in_whatever_order_they_are_read() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            let mut runs = Runs::default();
            for number in order {
                let mut run =
                    stored(number, "naive", 0, Some(if number == 1 { 3e-4 } else { 2e-4 }));
                run.record.parent = (number > 1).then(|| format!("{:0<64x}", 1));
                runs.add(&[run]);
            }
            let best: Vec<_> = runs.rows().iter().filter(|row| runs.is_best(row)).collect();
            assert_eq!(best.iter().map(|row| row.number.0).collect::<Vec<_>>(), [2], "{order:?}");
            let view = RunFilter { grouping: Grouping::Lineage, ..RunFilter::default() };
            check(&runs, &view, &["naive 3 3 2", "3", "2", "1"]);
        }
    }

    #[test]
    fn families_stand_together_below_their_best() {
        let runs = runs();
        let view = RunFilter { grouping: Grouping::Lineage, ..RunFilter::default() };
        check(&runs, &view, &["warp 3 3 2", "6", "5", "2", "naive 3 3 3", "4", "3", "1"]);
        let sorted = RunFilter { sort: Sort::Fastest, ..view.clone() };
        check(&runs, &sorted, &["warp 3 3 2", "6", "2", "5", "naive 3 3 3", "3", "1", "4"]);
        let filtered = RunFilter { filter: "naive-3".to_owned(), ..view.clone() };
        check(&runs, &filtered, &["naive 1 1 none", "4"]);
        let family = runs.lines(&view).groups[0].family;
        let folded = RunFilter { folded: [family].into(), ..view };
        check(&runs, &folded, &["warp 3 3 2", "naive 3 3 3", "4", "3", "1"]);
        check(&runs, &RunFilter::default(), &["6", "5", "4", "3", "2", "1"]);
    }
}
