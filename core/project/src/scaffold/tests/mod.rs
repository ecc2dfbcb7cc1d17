//! What signatures are read, what is written from them, and what is refused.

mod folder;
mod format;
mod plan;
mod refusal;
mod signature;
mod tolerance;
