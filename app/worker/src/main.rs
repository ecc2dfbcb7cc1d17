//! The program `lightbench-worker`: runs kernels for a Lightbench on another machine.
//!
//! `lightbench` copies it to a host and starts it with `remote WORD`, the supervisor. The supervisor starts it with `worker`,
//! which serves one side of a verification.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use lightbench_remote::supervisor;
use lightbench_toolchain::{HostEnvironment, libraries};
use lightbench_verify::device_protocol::{self, DeviceProtocol};
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::server;

const USAGE: &str = "lightbench starts this program: `lightbench-worker remote WORD` on another host, which starts `lightbench-worker worker`";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let served = match arguments.as_slice() {
        ["worker"] => server::serve(vec![device_protocol::offer()]).map_err(Into::into),
        ["remote", word] => supervise(word),
        _ => Err(USAGE.into()),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The machine at the other end quotes it.
            #[expect(clippy::print_stderr, reason = "a program without a window")]
            {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn supervise(word: &str) -> Result<(), Box<dyn Error>> {
    let command = WorkerCommand::new(env::current_exe()?, ["worker"]);
    let surroundings = HostEnvironment::from_variables(&|name| env::var_os(name), None);
    let job = env::var("SLURM_JOB_ID").ok();
    supervisor::serve::<DeviceProtocol>(&command, word, job, &libraries(&surroundings))?;
    Ok(())
}
