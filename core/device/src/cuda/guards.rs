//! Checks the guard regions of buffers on the GPU: only changed regions are read back.

use super::block::{Allocation, Block};
use crate::error::{DeviceError, DriverError};
use crate::execution::{Argument, Launch, ModuleId};
use crate::memory_check;
use crate::memory_check::MAX_RANGES;

/// Bytes of the result for one range: the offset of the first changed byte, and that after the last one.
const ANSWER: usize = 16;

/// The kernel that checks, and a buffer for its result.
#[derive(Debug)]
pub(super) struct Guards {
    pub(super) module: ModuleId,
    answers: Block,
}

impl Guards {
    /// Needs a current context.
    pub(super) fn new(module: ModuleId) -> Result<Self, DriverError> {
        Ok(Self { module, answers: Block::Plain(Allocation::new(MAX_RANGES * ANSWER)?) })
    }

    /// Which of the stretches, each a first address and a length, hold anything but the guard; `run` runs a launch to its
    /// end.
    pub(super) fn changed(
        &mut self,
        extents: &[(u64, u64)],
        byte: u8,
        mut run: impl FnMut(&Launch) -> Result<(), DeviceError>,
    ) -> Result<Vec<bool>, DeviceError> {
        let mut changed = Vec::with_capacity(extents.len());
        for extents in extents.chunks(MAX_RANGES) {
            let untouched = [u64::MAX, 0].map(u64::to_le_bytes).concat();
            self.answers.write(0, &untouched.repeat(extents.len()))?;
            let answers = Argument::Bytes(self.answers.start().to_le_bytes().to_vec());
            run(&memory_check::launch(self.module, extents, byte, answers))?;
            let answers = self.answers.read(0..extents.len() * ANSWER)?;
            changed.extend(answers.chunks(ANSWER).map(|answer| answer != untouched));
        }
        Ok(changed)
    }
}
