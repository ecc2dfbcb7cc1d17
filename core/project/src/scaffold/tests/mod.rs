//! The texts that are written for a kernel, and the sources that are refused.

mod folder;
mod format;
mod plan;
mod refusal;
mod tolerance;
