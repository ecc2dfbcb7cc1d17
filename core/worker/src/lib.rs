//! Worker processes: child processes that carry out requests of one service under limits and in a sandbox.
//!
//! Compilers and kernels process untrusted text from users, models and downloads. A crash, an endless loop or an attempt to
//! read other files must not affect the parent, so this work runs in a process that can be killed at any time.
//!
//! ```text
//!  parent                                             worker (the same program, started by WorkerCommand)
//!  WorkerHandle<P> ─ call(request, limit, cancellation)
//!      └ Worker<P> ─ Child: own process group, ──frames──►  server::serve
//!                    scratch folder, cleared                1 moves its standard streams
//!                    environment, stderr kept               2 hello; setup and options; limits; prepares the service
//!                                                           3 landlock, seccomp; ready
//!      kill at the limit, reap, clean up     ◄──frames──    4 one reply per request
//! ```
//!
//! A [`protocol::Protocol`] names a service, its requests and the reply of each.

pub mod client;
pub mod command;
pub mod end;
pub mod error;
pub mod frame;
pub mod handle;
pub mod pool;
pub mod protocol;
pub mod sandbox;
pub mod server;

mod child;
mod confine;
mod memory;
mod pause_times;
mod scheduling_delay;
mod stderr_tail;

pub use stderr_tail::{StderrTail, printable};

/// The prefix of the names of scratch folders.
pub const SCRATCH_PREFIX: &str = "lightbench-worker-";
