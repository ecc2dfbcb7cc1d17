//! Changes of a kernel file and what is known about their effect: rewrite rules, the order of parameter values, observed
//! speedups of techniques, and the place of a kernel in the archive of a search.

pub mod descriptor;
pub mod knowledge;
pub mod parameter_order;
pub mod rewrite;
