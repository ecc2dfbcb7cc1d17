//! Timing statistics: samples, their summary, and when there are enough of them.
//!
//! A device supplies samples (`device::timing`); this crate turns samples into a [`Timing`] and two sets of samples
//! into a [`Comparison`]. It launches nothing and reads no clock, so that all of it is tested on simulated noise.

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
