//! What a history promises.

mod appending;
mod lineage;
mod opening;
mod querying;
