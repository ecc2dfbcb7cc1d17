//! What the lanes of a warp touch: addresses of one source line, the sectors or banks that they fall into, and what that
//! costs. [`record()`] has the virtual GPU run a kernel; [`Picture`] is one access of it, pure.

mod picture;
mod record;
#[cfg(test)]
mod tests;

pub use picture::{AccessPicture, Bank, Banks, Sector, Sectors, Units};
pub use record::{AccessError, Recording, RecordingRequest, Site, record, usual_workload};
