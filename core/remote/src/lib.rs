//! Workers on another host, over the standard streams of one command such as `ssh HOST`.
//!
//! ```text
//!  this machine                                     the other host
//!  RemoteHandle<P> ─ call ─► Connection ──frames──► supervisor ─► WorkerHandle<P> ─► worker
//!                              │    ◄── each second a heartbeat in both directions ──►  │
//!                  RemoteFolder ─ files ──────────► folder between its workers ◄────────┘
//! ```
//!
//! * [`transport`] is the command, and the shell script that finds or installs the program on the host.
//! * [`connection`] is this side of the connection, [`supervisor`] the other one.
//! * A [`sequence`] of calls takes one round trip.
//! * The supervisor measures every limit, because it sees whether a worker computes, waits or is stopped. It ends with its
//!   workers when its input ends, or after [`SILENCE`] without a byte.

use std::time::Duration;

pub mod connection;
pub mod folder;
pub mod handle;
pub mod hosts;
pub mod sequence;
pub mod supervisor;
pub mod transport;

mod last_heard;
mod message;
mod preamble;

/// How often each side sends a heartbeat.
pub const HEARTBEAT: Duration = Duration::from_secs(1);

/// The time without a byte from the other side after which a connection is lost.
pub const SILENCE: Duration = Duration::from_secs(5);
