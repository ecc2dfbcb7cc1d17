//! The memory accesses of a warp at one source line: addresses, sectors or banks, and their cost. [`record()`] runs a kernel
//! on the virtual GPU; [`AccessPicture`] describes one of its accesses.

mod picture;
mod record;
#[cfg(test)]
mod tests;

pub use picture::{AccessPicture, Bank, Banks, Sector, Sectors, Units};
pub use record::{AccessError, Recording, Site, record, usual_workload};
