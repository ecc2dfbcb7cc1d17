//! Islands: populations that evolve separately and occasionally take a candidate from a neighbouring island.
//!
//! Tanese, "Distributed Genetic Algorithms", 1989; for programs written by models, FunSearch (Romera-Paredes and
//! others, Nature 2024).

use super::{Choice, Strategy, choice, draw_action};
use crate::archive::{Archive, Node};
use crate::generator::Generator;

/// Number of islands.
const ISLANDS: usize = 4;
/// Rounds between two migrations, in which an island takes its parent from its neighbour.
const ROUNDS_BETWEEN_MIGRATIONS: usize = 5;
/// Number of candidates drawn for a parent; the best of them is chosen.
const TOURNAMENT: usize = 3;

/// The islands take turns; a candidate produced in an island's turn belongs to it.
pub(super) struct Islands {
    pub(super) seed: u64,
}

impl Strategy for Islands {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let attempts = archive.attempts();
        let mut generator = Generator::new(self.seed, attempts as u64);
        let (island, round) = (attempts % ISLANDS, attempts / ISLANDS);
        let migrates = (round + 1).is_multiple_of(ROUNDS_BETWEEN_MIGRATIONS);
        let from = if migrates { (island + 1) % ISLANDS } else { island };
        let open = archive.open_nodes();
        let living: Vec<&Node> = open.iter().copied().filter(|node| lives_on(node, from)).collect();
        let (parent, whence) = match tournament(&living, &mut generator) {
            Some(parent) if migrates => (parent, "came over from the neighbouring island"),
            Some(parent) => (parent, "won the tournament on its island"),
            None => {
                (*open.first()?, "is the best available on any island, because its own has none")
            }
        };
        let (place, _) = draw_action(parent, &mut generator)?;
        let reason = format!("Turn of island {}: its starting candidate {whence}", island + 1);
        Some(choice(parent, place, reason))
    }

    fn name(&self) -> String {
        "islands".to_owned()
    }
}

/// Whether a candidate belongs to an island; candidates of the user belong to all.
fn lives_on(node: &Node, island: usize) -> bool {
    node.outcome.gain().is_some() && (node.origin.is_none() || node.attempt % ISLANDS == island)
}

/// The best of some drawn from a list that is sorted best first.
fn tournament<'n>(living: &[&'n Node], generator: &mut Generator) -> Option<&'n Node> {
    let drawn = (0..TOURNAMENT).map(|_| generator.below(living.len())).min()?;
    living.get(drawn).copied()
}
