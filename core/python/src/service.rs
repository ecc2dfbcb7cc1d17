//! The worker's side before Python runs: prepares the interpreter's command, which replaces the worker's own program.

use std::path::{Path, PathBuf};
use std::process::Command;

use lightbench_worker::protocol::Protocol;
use lightbench_worker::server::{ForeignProgram, Offer, WithoutSandbox};
use serde::{Deserialize, Serialize};

use crate::shim;

/// The service that becomes a Python interpreter.
#[derive(Debug)]
pub struct PythonProtocol;

impl Protocol for PythonProtocol {
    const SERVICE: &'static str = "python";
    const BUILD: &'static str = env!("LIGHTBENCH_SOURCE_HASH");
    type Options = Launch;
    type Facts = ();
    /// Requests are messages of this crate's own encoding.
    type Request = ();
}

/// How the interpreter starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The interpreter.
    pub(crate) program: PathBuf,
    /// The most threads of a numerical library.
    pub(crate) compute_threads: u32,
    /// Whether it starts without the sandbox.
    pub(crate) without_sandbox: WithoutSandbox,
}

/// Offers the service to a parent.
#[must_use]
pub fn offer() -> Offer {
    Offer::for_program::<PythonProtocol>(|launch, scratch| {
        prepare(&launch, scratch)
            .map_err(|error| format!("cannot write the scratch folder: {error}"))
    })
}

fn prepare(launch: &Launch, scratch: &Path) -> std::io::Result<ForeignProgram> {
    let [home, temporary, triton] = ["home", "tmp", "triton"].map(|name| scratch.join(name));
    for folder in [&home, &temporary, &triton] {
        std::fs::create_dir(folder)?;
    }
    let mut command = Command::new(&launch.program);
    // `-I` ignores the user's environment and packages, `-B` writes no compiled files.
    command
        .args(["-I", "-B", "-c", shim::WORKER])
        .env_clear()
        .env("LANG", "C.UTF-8")
        // PyTorch asks for the user's name, which the worker cannot look up.
        .env("USER", "lightbench")
        .env("HOME", home)
        .env("TMPDIR", temporary)
        .env("TRITON_CACHE_DIR", triton.join("cache"))
        .env("TRITON_HOME", triton);
    // Otherwise each library starts as many threads as the machine has processors.
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, launch.compute_threads.to_string());
    }
    Ok(ForeignProgram { command, without_sandbox: launch.without_sandbox })
}
