//! What a GPU has besides what all devices have: what tells its time.

use super::device::CudaDevice;
use crate::device::execution::Instruments;
use crate::device::timing::Timekeeping;

impl Instruments for CudaDevice {
    fn keep_time(&mut self, by: &Timekeeping) {
        self.timekeeping.clone_from(by);
    }
}
