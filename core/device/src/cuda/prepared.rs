//! Work that is ready to run: kernels and parameters in the driver's form, and the calls of each operation.

use std::collections::BTreeSet;
use std::rc::Rc;

use cudarc::driver::sys::CUdeviceptr;
use lightbench_measure::Mode;
use lightbench_primitives::texture::TexelMemory;

use super::cublas::Cublas;
use super::driver::Kernel;
use super::stamps::{Call, Calls};
use super::stream::{BorrowedMemory, Stream};
use super::texture::ArrayCopy;
use crate::error::DeviceError;
use crate::execution::{Argument, BufferId, Launch};
use crate::library::Product;
use crate::timing::{Operation, Work};

/// Work that a GPU can start at once, again and again.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) poison: Vec<BorrowedMemory>,
    pub(super) clear: Vec<BorrowedMemory>,
    pub(super) restore: Vec<(BorrowedMemory, BorrowedMemory)>,
    /// Arrays that surfaces write, filled again after their buffers.
    pub(super) arrays: Vec<ArrayCopy>,
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
        let arrays = vec![Call::Copy; self.arrays.len()];
        let mut before = vec![Call::Copy; copies];
        before.extend(arrays.iter().cloned());
        before.extend(vec![Call::Fill; fills]);
        before.extend(arrays);
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

/// The buffers whose texels timed work accesses in arrays.
///
/// # Errors
///
/// The work accesses one of them by its address too: neither copy follows the other between the operations of a sample.
pub(super) fn arrays_of(work: &Work) -> Result<BTreeSet<BufferId>, DeviceError> {
    let (mut arrays, mut memory) = (BTreeSet::new(), BTreeSet::new());
    for operation in &work.timed {
        match operation {
            Operation::Launch { launch, .. } => {
                for argument in &launch.arguments {
                    match argument {
                        Argument::Texture { buffer, object }
                            if object.texels.memory != TexelMemory::Linear =>
                        {
                            arrays.insert(*buffer);
                        }
                        Argument::Texture { buffer, .. }
                        | Argument::Buffer(buffer)
                        | Argument::TensorMap { buffer, .. } => {
                            memory.insert(*buffer);
                        }
                        Argument::Bytes(_) => {}
                    }
                }
            }
            Operation::Fill { buffer, .. } => {
                memory.insert(*buffer);
            }
            Operation::Library(run) => memory.extend(run.buffers),
        }
    }
    if arrays.is_disjoint(&memory) { Ok(arrays) } else { Err(DeviceError::TwoCopies) }
}
