//! (1+1): changes the incumbent until a better candidate is found, which becomes the incumbent.

use super::{Choice, Strategy, choice};
use crate::archive::Archive;

/// Keeps only the incumbent; it cannot leave a local optimum.
pub(super) struct Greedy;

impl Strategy for Greedy {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let incumbent = archive.incumbent()?;
        let (place, action) = incumbent.most_promising()?;
        let reason = format!(
            "Candidate {} is the best so far, and its action with the largest expected gain is `{}`",
            incumbent.id, action.key
        );
        Some(choice(incumbent, place, reason))
    }

    fn name(&self) -> String {
        "greedy".to_owned()
    }
}
