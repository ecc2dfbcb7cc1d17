//! Further processes of the same virtual device.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use super::DeviceWorkers;

/// Processes that run the candidate at a time, at most. Each holds a copy of a workload.
const MOST_AT_A_TIME: usize = 8;

impl DeviceWorkers {
    /// Whether further processes can run the candidate beside these: not on a GPU, whose times they would change, and not
    /// on another host.
    pub(crate) fn has_siblings(&self) -> bool {
        self.models_time() && self.connection.is_none()
    }

    /// Further processes for the same device: with these, at most as many as the machine has processors.
    ///
    /// # Errors
    /// There is no place for the folders between them.
    pub(crate) fn siblings(&self, most: usize) -> io::Result<Vec<Self>> {
        let processors = available_parallelism().unwrap_or(NonZeroUsize::MIN).get();
        let siblings = (1..processors.min(MOST_AT_A_TIME)).take(most);
        siblings.map(|_| Self::new(&self.command, &self.name, None)).collect()
    }
}
