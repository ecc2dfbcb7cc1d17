//! Best of n: several changes of one candidate, then on with the best of all so far.

use super::{Choice, Strategy, choice};
use crate::archive::{Archive, Node};

/// Does not move on before a round is over, so that the first small gain does not decide where
/// the search goes.
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
            "Attempt {} of {attempts} in this round, which starts from what was best when it began, of all with something left to try",
            archive.attempts() - begun + 1
        );
        Some(choice(base, place, reason))
    }

    fn name(&self) -> String {
        format!("best-of-{}", self.attempts)
    }
}
