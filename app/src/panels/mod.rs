//! Panels: each draws what it is given, and says what was done with it. One file for each; this is the list of them.

mod empty;
pub mod roofline;
pub mod speed_of_light;
#[cfg(test)]
mod tests;
pub mod timing;
pub mod workloads;
