//! Further processes of the same virtual device.

use std::io;

use super::DeviceWorkers;
use crate::checkers::processes_at_a_time;

impl DeviceWorkers {
    /// Whether further processes can run the candidate beside these: not on a GPU, whose times they would change, and not
    /// on another host.
    pub(crate) fn has_siblings(&self) -> bool {
        self.models_time() && self.connection.is_none()
    }

    /// Further processes for the same device: with these, at most as many as run at a time.
    ///
    /// # Errors
    /// There is no place for the folders between them.
    pub(crate) fn siblings(&self, most: usize) -> io::Result<Vec<Self>> {
        let siblings = (1..processes_at_a_time()).take(most);
        siblings.map(|_| Self::new(&self.command, &self.name, None)).collect()
    }
}
