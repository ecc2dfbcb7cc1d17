//! Any open action of any candidate: the reference for all other strategies.

use super::{Choice, Strategy, choice};
use crate::archive::Archive;
use crate::generator::Generator;

/// Draws, each open action equally likely.
pub(super) struct Random {
    pub(super) seed: u64,
}

impl Strategy for Random {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let mut generator = Generator::new(self.seed, archive.attempts() as u64);
        let open: Vec<(usize, usize)> = archive
            .nodes()
            .iter()
            .flat_map(|node| node.open_actions().map(|(place, _)| (node.id, place)))
            .collect();
        let &(node, place) = generator.pick(&open)?;
        let reason = format!("Drawn from {} open actions", open.len());
        Some(choice(&archive.nodes()[node], place, reason))
    }

    fn name(&self) -> String {
        "random".to_owned()
    }
}
