//! Work that is ready to run: kernels and parameters in the driver's form, and the calls of each operation.

use std::rc::Rc;

use cudarc::driver::sys::CUdeviceptr;
use lightbench_measure::Mode;

use super::cublas::Cublas;
use super::driver::Kernel;
use super::stamps::{Call, Calls};
use super::stream::{BorrowedMemory, Stream};
use crate::execution::Launch;
use crate::library::Product;

/// Work that a GPU can start at once, again and again.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) poison: Vec<BorrowedMemory>,
    pub(super) clear: Vec<BorrowedMemory>,
    pub(super) restore: Vec<(BorrowedMemory, BorrowedMemory)>,
    pub(super) timed: Vec<Action>,
}

impl Prepared {
    /// Whether all blocks of a launch must be resident at once: the driver does not accept such a launch in a graph.
    pub(super) fn is_cooperative(&self) -> bool {
        self.timed.iter().any(|action| match action {
            Action::Launch { launch, .. } => launch.cooperative,
            Action::Fill { .. } | Action::Library { .. } => false,
        })
    }

    /// The driver calls of each sample, if a sample is one execution of one call; `None` for several calls, or if a
    /// library decides the calls.
    pub(super) fn only_call(&self, mode: Mode) -> Option<Calls> {
        let [action] = self.timed.as_slice() else { return None };
        let timed = vec![action.only_call()?];
        let filled = |rooms: &[BorrowedMemory]| rooms.iter().filter(|room| room.bytes > 0).count();
        let copies = self.restore.iter().filter(|(from, to)| from.bytes.min(to.bytes) > 0).count();
        let fills = filled(&self.poison) + filled(&self.clear);
        let mut before = vec![Call::Copy; copies];
        before.extend(vec![Call::Fill; fills]);
        if mode == Mode::Cold {
            // The flush.
            before.extend([Call::Fill, Call::Launch]);
        }
        Some(Calls { before, timed })
    }
}

/// One thing that is timed.
#[derive(Debug)]
pub(super) enum Action {
    Launch { kernel: Kernel, launch: Box<Launch>, parameters: Vec<u8> },
    Fill { to: BorrowedMemory, element: Vec<u8> },
    Library { cublas: Rc<Cublas>, product: Product, addresses: [CUdeviceptr; 3] },
}

impl Action {
    fn only_call(&self) -> Option<Call> {
        match self {
            Self::Launch { .. } => Some(Call::Launch),
            Self::Fill { to, element } => (Stream::fills(to, element) == 1).then_some(Call::Fill),
            Self::Library { .. } => None,
        }
    }
}
