//! What a history promises.

mod appending;
mod damage;
mod lineage;
mod opening;
mod querying;
mod unwritable;
