//! Guarantees of a history.

mod appending;
mod damage;
mod lineage;
mod opening;
mod querying;
mod unwritable;
