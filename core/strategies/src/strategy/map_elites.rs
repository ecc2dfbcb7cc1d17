//! MAP-Elites: keeps the best candidate of every cell and develops all cells.
//!
//! Mouret and Clune, "Illuminating search spaces by mapping elites", 2015. The cells are those of four static
//! descriptors; the fractions of exploitation and exploration are those of KernelFoundry.

use super::{Choice, Strategy, choice, draw_action};
use crate::archive::{Archive, Cell, Node};
use crate::generator::Generator;

/// Of ten choices, the number that develop a good elite.
const EXPLOITING: usize = 7;
/// Of ten choices, the number that develop the least tried cell. The others pick any elite.
const UNDEREXPLORED: usize = 2;

/// A grid of elites.
pub(super) struct MapElites {
    pub(super) seed: u64,
}

impl Strategy for MapElites {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let mut generator = Generator::new(self.seed, archive.attempts() as u64);
        let mut elites: Vec<&Node> =
            archive.elites().into_values().filter(|elite| elite.is_open()).collect();
        elites.sort_by(|left, right| right.rank(left));
        let (parent, why) = match generator.below(10) {
            draw if draw < EXPLOITING => {
                let place = generator.below(elites.len()).min(generator.below(elites.len()));
                (elites.get(place).copied(), "is one of the best elites")
            }
            draw if draw < EXPLOITING + UNDEREXPLORED => {
                let least = elites.iter().min_by_key(|elite| tried_in(archive, elite.cell));
                (least.copied(), "is the elite of the cell that was tried least")
            }
            _ => (generator.pick(&elites).copied(), "was drawn from all elites"),
        };
        let (parent, why) = match parent {
            Some(parent) => (parent, why),
            None => (
                *archive.open_nodes().first()?,
                "is the best available, because all elites are used up",
            ),
        };
        let (place, _) = draw_action(parent, &mut generator)?;
        let [memory, compute, parallelism, tensor] = parent.cell;
        let reason = format!(
            "Candidate {} {why}; its levels are memory {memory}, compute {compute}, parallelism {parallelism} and tensor {tensor}",
            parent.id
        );
        Some(choice(parent, place, reason))
    }

    fn name(&self) -> String {
        "map-elites".to_owned()
    }
}

/// Number of attempts with all candidates of a cell.
fn tried_in(archive: &Archive, cell: Cell) -> usize {
    archive.nodes().iter().filter(|node| node.cell == cell).map(Node::was_tried).sum()
}
