//! Best of n: several changes of one candidate, then continue with the best candidate so far.

use super::{Choice, Strategy, choice};
use crate::archive::{Archive, Node};

/// Completes a round before it moves on, so that the first small gain does not determine the direction of the search.
pub(super) struct BestOf {
    pub(super) attempts: usize,
}

impl Strategy for BestOf {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let attempts = self.attempts.max(1);
        let begun = archive.attempts() / attempts * attempts;
        let known = |node: &&&Node| node.origin.is_none() || node.attempt < begun;
        let open = archive.open_nodes();
        let base = open.iter().find(known).or(open.first()).copied()?;
        let (place, _) = base.most_promising()?;
        let reason = format!(
            "Attempt {} of {attempts} in this round, which starts from the candidate that was best at its beginning, among those with open actions",
            archive.attempts() - begun + 1
        );
        Some(choice(base, place, reason))
    }

    fn name(&self) -> String {
        format!("best-of-{}", self.attempts)
    }
}
