//! Lineage of candidates: runs whose candidates derive from the same ancestor form a family.
//!
//! A history is read in parts, the newest runs first, so an ancestor may become known after its descendants.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use lightbench_core::history::{RunNumber, StoredRun};

/// A candidate, numbered within this window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Descent(u32);

/// A family, named by its oldest known ancestor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(pub(super) u32);

/// All candidates and their parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Families {
    /// Keyed by a 64-bit hash of the candidate's name.
    known: BTreeMap<u64, u32>,
    candidates: Vec<Candidate>,
}

#[derive(Clone, Debug, Default)]
struct Candidate {
    /// The oldest known run; its parent counts, because a later run may return to an earlier text.
    first: Option<RunNumber>,
    parent: Option<u32>,
    /// The kernel of that run.
    kernel: Option<Arc<str>>,
}

impl Families {
    /// Adds a run; a run without a compiled candidate belongs to its parent's family.
    pub(super) fn add(&mut self, run: &StoredRun, kernel: &Arc<str>) -> Descent {
        let record = &run.record;
        let parent = record.parent.as_deref().map(|name| self.named(name));
        let own = record.candidate.as_deref().map(|name| self.named(name));
        let Some(own) = own.or(parent) else {
            let alone = self.named(&format!("kernel {kernel}"));
            self.candidates[alone as usize].kernel.get_or_insert_with(|| Arc::clone(kernel));
            return Descent(alone);
        };
        let candidate = &mut self.candidates[own as usize];
        if candidate.first.is_none_or(|first| run.number < first) {
            candidate.first = Some(run.number);
            candidate.parent = parent.filter(|parent| *parent != own);
            candidate.kernel = Some(Arc::clone(kernel));
        }
        Descent(own)
    }

    fn named(&mut self, name: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let next = u32::try_from(self.candidates.len()).unwrap_or(u32::MAX);
        let number = *self.known.entry(hasher.finish()).or_insert(next);
        if number == next {
            self.candidates.push(Candidate::default());
        }
        number
    }

    /// The family of every candidate, by number.
    pub(super) fn resolved(&self) -> Vec<Family> {
        const UNKNOWN: u32 = u32::MAX;
        let mut found = vec![Family(UNKNOWN); self.candidates.len()];
        let mut path = Vec::new();
        for start in 0..self.candidates.len() {
            let mut at = start;
            let root = loop {
                if found[at].0 != UNKNOWN {
                    break found[at];
                }
                path.push(at);
                // A candidate under resolution counts as its own ancestor, so that a cycle, possible only in an
                // imported file, terminates.
                found[at] = Family(u32::try_from(at).unwrap_or(UNKNOWN));
                match self.candidates[at].parent {
                    Some(parent) => at = parent as usize,
                    None => break found[at],
                }
            };
            path.drain(..).for_each(|each| found[each] = root);
        }
        found
    }

    /// The family of a candidate, from resolved families.
    pub(super) fn family_of(resolved: &[Family], descent: Descent) -> Option<Family> {
        resolved.get(descent.0 as usize).copied()
    }

    /// The kernel of a family's oldest candidate, if a run of it is known.
    pub(super) fn kernel(&self, family: Family) -> Option<&Arc<str>> {
        self.candidates.get(family.0 as usize)?.kernel.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::tests::stored;

    /// Takes runs as `number candidate parent` in reading order; checks the root of each run's candidate.
    fn check(runs: &[(i64, &str, &str)], expected: &[i64]) {
        let mut families = Families::default();
        let descents: Vec<Descent> = runs
            .iter()
            .map(|(number, candidate, parent)| {
                let mut run = stored(*number, &format!("k{number}"), 0, None);
                let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
                (run.record.candidate, run.record.parent) = (named(candidate), named(parent));
                families.add(&run, &format!("k{number}").into())
            })
            .collect();
        let resolved = families.resolved();
        let found: Vec<i64> = descents
            .into_iter()
            .map(|descent| {
                let family = Families::family_of(&resolved, descent).unwrap();
                families.kernel(family).map_or(0, |kernel| kernel[1..].parse().unwrap())
            })
            .collect();
        assert_eq!(found, expected, "{runs:?}");
    }

    #[test]
    fn runs_go_back_to_the_first_candidate_that_is_known() {
        check(&[(1, "a", ""), (2, "b", "a"), (3, "c", "b"), (4, "d", "")], &[1, 1, 1, 4]);
        // Read from the newest to the oldest.
        check(&[(3, "c", "b"), (2, "b", "a"), (1, "a", "")], &[1, 1, 1]);
        // The parent has no run here.
        check(&[(5, "c", "b"), (6, "d", "b")], &[0, 0]);
    }

    #[test]
    fn who_comes_back_to_a_text_makes_no_circle() {
        check(&[(1, "a", ""), (2, "b", "a"), (3, "a", "b")], &[1, 1, 1]);
        check(&[(1, "a", "b"), (2, "b", "a")], &[2, 2]);
        check(&[(1, "a", "a")], &[1]);
    }

    #[test]
    fn what_could_not_be_made_belongs_to_what_it_was_before() {
        check(&[(1, "a", ""), (2, "", "a"), (3, "", "")], &[1, 1, 3]);
    }
}
