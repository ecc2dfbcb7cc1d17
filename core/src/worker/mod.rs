//! The child process that compiles: framed protocol, limits, sandbox.
//!
//! Compilers run on what people, models and strangers write. A template bomb, a crash or an
//! attempt to read somebody's files must not reach the window, so the compiler lives in a process
//! that is cheap to kill and allowed little:
//!
//! ```text
//!  parent                                             worker (same program, told how by WorkerCommand)
//!  WorkerHandle ─ call(request, limit, cancellation)
//!      └ Worker ─ Child: own process group, ──frames──►  server::serve
//!                 scratch folder, scrubbed               1 moves its standard output out of reach
//!                 environment, stderr kept               2 hello; setup; loads the compiler
//!                                                        3 limits, landlock, seccomp; ready
//!      kill at the limit, reap, clean up  ◄──frames──    4 one reply for each request
//! ```

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

mod busy;
mod child;
mod confine;
mod memory;
mod pauses;
mod stderr_tail;
mod tools;
mod wire;

/// How the names of scratch folders begin.
pub const SCRATCH_PREFIX: &str = "lightbench-worker-";
