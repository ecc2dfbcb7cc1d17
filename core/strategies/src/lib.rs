//! What to try next, and nothing of kernels: tuners over declared parameters, strategies over
//! candidates, forecasts of what is worth measuring, and the replay that compares them all.
//!
//! Nothing here does I/O, reads a clock or starts a thread. The same seed and the same answers
//! give the same questions on every platform: random numbers come from one generator whose stream
//! is fixed ([`rand_pcg`]'s PCG XSL RR 128/64), everything made of them is written here, and
//! elementary functions come from `pxfm`, not from the platform.

mod generator;

pub mod archive;
pub mod forecast;
pub mod gauss;
pub mod replay;
pub mod space;
pub mod strategy;
pub mod tuner;

pub use archive::{Action, Archive, Attempt, Finding, Node, Origin, Outcome};
pub use space::{Dimension, Neighbourhood, Restriction, Space, SpaceError};
pub use strategy::{Choice, Strategy, StrategyKind};
pub use tuner::{TrialOutcome, Tuner, TunerKind};
