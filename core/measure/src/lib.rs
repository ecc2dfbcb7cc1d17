//! How long a candidate takes: samples, what they say together, and when there are enough of them.
//!
//! A device gives samples (`device::timing`); everything here turns samples into a [`Timing`] and two sets of them into a
//! [`Comparison`]. Nothing here launches anything or reads a clock, so that all of it can be tried on simulated noise.

pub mod comparison;
pub mod energy;
pub mod protocol;
pub mod statistics;
pub mod timing;

pub use comparison::{Comparison, Conclusion};
pub use energy::{Energy, EnergyError};
pub use protocol::{ClockUse, EnergyUse, ExtraModes, Progress, Protocol};
pub use statistics::Summary;
pub use timing::{
    Basis, Clock, Conditions, DeviceMemory, Mode, NoStamps, Stopped, Timing, TimingDefect,
};
