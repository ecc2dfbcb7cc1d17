//! (1+1): the incumbent is changed until something is better, which is then the incumbent.

use super::{Choice, Strategy, choice};
use crate::archive::Archive;

/// Knows one candidate, the incumbent; gets stuck where every way up leads down first.
pub(super) struct Greedy;

impl Strategy for Greedy {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let incumbent = archive.incumbent()?;
        let (place, action) = incumbent.most_promising()?;
        let reason = format!(
            "Candidate {} is the best so far, and of what can be done with it most is expected of `{}`",
            incumbent.id, action.key
        );
        Some(choice(incumbent, place, reason))
    }

    fn name(&self) -> String {
        "greedy".to_owned()
    }
}
