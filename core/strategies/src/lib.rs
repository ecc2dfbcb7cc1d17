//! Search methods, independent of kernels: tuners over declared parameters, strategies over candidates, and the
//! replay that compares them.
//!
//! This crate does no I/O, reads no clock and starts no thread. The same seed and the same answers yield the same
//! questions on every platform: random numbers come from one generator with a fixed stream ([`rand_pcg`]'s PCG XSL RR
//! 128/64), the distributions are implemented here, and elementary functions come from `pxfm`, not from the platform.

mod generator;

pub mod archive;
pub mod gauss;
pub mod replay;
pub mod space;
pub mod strategy;
pub mod tuner;

pub use archive::{Action, Archive, Attempt, Finding, Node, Origin, Outcome};
pub use space::{Dimension, Neighbourhood, Restriction, Space, SpaceError};
pub use strategy::{Choice, Strategy, StrategyKind};
pub use tuner::{TrialOutcome, Tuner, TunerKind};
