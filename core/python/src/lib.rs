//! Python workers: the user's interpreter in a confined process that answers requests.
//!
//! References, the compiler of Triton and generators of inputs are Python programs of users and of imported tasks. They run
//! in a process of their own that has no secrets, no network and no files but the interpreter's, and only data comes back.
//!
//! ```text
//!  parent                                    worker
//!  Interpreter::find ── confined probe
//!  Worker::call(service, request, blobs)
//!    └ worker::client::Worker ──frames──►    `lightbench worker`: limits, landlock, seccomp
//!                                              └ execve: python -I -B -c assets/python/worker.py
//!         kill at a limit      ◄─messages─►       └ service modules of assets/python, user's code
//! ```
//!
//! A worker runs the code of one project: code of an earlier call can change what a later call of the same process
//! returns. The parent trusts nothing that it reads.

#![warn(missing_docs, reason = "the interface of the front ends and references that run Python")]

mod error;
mod exception;
mod interpreter;
mod layout;
mod message;
mod search;
mod service;
mod shim;
mod worker;

pub use error::PythonError;
pub use exception::{Exception, TracebackFrame};
pub use interpreter::{Interpreter, Packages};
pub use message::{BLOB_COUNT_LIMIT, HEADER_LIMIT, MalformedReply};
pub use search::{InterpreterSearch, PythonAccess};
pub use service::{PythonProtocol, offer};
pub use shim::OLDEST_VERSION;
pub use worker::{Limits, Reply, Worker, WorkerConfiguration};
